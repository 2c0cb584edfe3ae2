// A colour for each MPI function, the same in all views and runs. Hue tells what kind of call it is, lightness the
// functions of a kind apart: sends orange, receives blue, waits green, collectives purple (barriers vermilion),
// one-sided yellow, files brown, starting and ending grey-blue.
#pragma once

#include <cstdint>
#include <string>

#include "viewer/layout/geometry.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::layout {

Rgba function_colour(std::uint16_t function);
// Outside MPI.
Rgba outside_colour(const Palette& palette);

}  // namespace pclscope::layout
