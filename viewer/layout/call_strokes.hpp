// Calls as lines and arches (after Muelder et al., Figure 4): added to the buffers of the call view, so that opacity
// is that of points. A pixel that a stroke only touches gets its part.
#pragma once

#include <cstdint>
#include <functional>

#include "viewer/layout/call_image.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::layout {

// What is drawn of so many calls, if nobody chooses: few are arches, more are lines, many are points.
constexpr std::uint64_t most_arches_drawn = 300, most_lines_drawn = 20'000;
session::CallShape shape_of(std::uint64_t calls);

// Of the calls with a part in the range, as lines or arches. Each drawn alone from `singles`, where that is not null;
// else each cell of the density is one stroke of all its calls: from the middle of its slice, as long as the middle of
// its bin. `stopping` true ends it early.
CallBuffers stroke_buffers(const CallDensity& density, const session::TimelineRun* singles,
                           const FunctionColours& colours, const CallQuestion& question,
                           const std::function<bool()>& stopping = {});

// Whether the run has every call of the range one by one, and few enough to draw them so.
bool knows_all(const session::TimelineRun& run, const CallDensity& density, const CallQuestion& question);

}  // namespace pclscope::layout
