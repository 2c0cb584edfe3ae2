// What the rank timeline says of a call, and what a click on it selects.
#pragma once

#include <string>

#include "viewer/gui/base/selection.hpp"
#include "viewer/session/timeline_run.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

// A call, or the time outside MPI before one.
struct TimelinePlace {
  std::int32_t rank = -1;  // -1: nothing
  std::uint16_t thread = 0;
  std::size_t call = 0;  // of TimelineRun::calls
  bool outside = false;  // the time before it
};

// At that moment; the call that is nearest when none lies there within `reach_ns`.
TimelinePlace place_at(const session::TimelineRun& run, std::int32_t rank, std::int64_t at_ns, std::int64_t reach_ns);
std::string call_words(const session::TimelineRun& run, const TimelinePlace& place, const views::Sites& sites);
void select_call(const session::TimelineRun& run, const TimelinePlace& place, const Snapshot& snapshot,
                 Selection& selection);

}  // namespace pclscope::gui
