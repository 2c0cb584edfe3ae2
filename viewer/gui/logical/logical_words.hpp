// What the views of logical time say of an event, and what a click on it selects.
#pragma once

#include <string>

#include "viewer/gui/base/view.hpp"
#include "viewer/session/logical_run.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

struct EventPlace {
  std::uint32_t phase = logical::none;  // of LogicalRun::phases
  std::uint32_t box = 0;                // of the phase
  bool known() const { return phase != logical::none; }
  bool operator==(const EventPlace&) const = default;
};

// "rank 17, step 203, phase 12: receive" and so on, in lines. The phase's number is that of `inspect phases`.
std::string event_words(const session::LogicalRun& run, EventPlace place, const views::Sites& sites);
// The rank, its region, the event's period, and its message if it has one alone.
void select_event(const session::LogicalRun& run, EventPlace place, const Snapshot& snapshot, Selection& selection);
// Buttons for metrics, from the cursor on, in one line; marks "metric lateness" ... Returns how far they reach.
float draw_metric_buttons(const Scene& scene, std::vector<Mark>& marks);

}  // namespace pclscope::gui
