// A CallDensity with less detail, and the sum of two: all sums stay exact.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/values/call_density.hpp"

namespace pclscope::density {

void halve_inside(CallDensity& density);  // slices of `inside` become twice as long
void halve_calls(CallDensity& density);   // those of `calls`
void halve_bins(CallDensity& density);    // half as many bins per octave; of 1 nothing

// Counts are joined in time down to 128 slices, then in duration to two bins per octave, then again in time, until all
// takes at most `bytes` packed. `inside` is left alone until there is one slice of counts, with one bin per octave.
void fit(CallDensity& density, std::size_t bytes);
// At most so many slices of `inside`.
void fit_inside(CallDensity& density, std::uint32_t slices);

// The result is as coarse as the coarser one.
void add(CallDensity& to, CallDensity more);

std::uint32_t slices_of_inside(const CallDensity& density);  // the last one with something in it, and one
std::uint32_t slices_of_calls(const CallDensity& density);

}  // namespace pclscope::density
