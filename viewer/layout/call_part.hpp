// Which whole cells of the density of calls a box on the call view meets: so that calls that are stored one by one and
// those that were counted are told of the same part.
#pragma once

#include "analysis/values/call_density.hpp"
#include "viewer/layout/call_image.hpp"
#include "viewer/session/single_calls.hpp"

namespace pclscope::layout {

struct CallBox {
  TimeRange time;           // of begins, or ends
  DurationRange durations;  // log2 of ns
};

constexpr DurationRange all_durations{0, 64};

// Of all cells that `box` touches.
session::CallPart part_of(const CallDensity& density, CallEdge edge, const CallBox& box,
                          const std::optional<std::uint16_t>& function);
// Where that is; the first slice from its begin on.
CallBox box_of(const session::CallPart& part);
// Calls that were counted in such a part.
std::uint64_t counted_in(const CallDensity& density, const session::CallPart& part);

}  // namespace pclscope::layout
