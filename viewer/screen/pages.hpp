// Pages of the full-screen watch that take the whole window: what is known about one entry of a section, and the help.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/screen/line.hpp"
#include "viewer/screen/model.hpp"

namespace pclscope::screen {

struct PageText {
  std::string title;
  std::vector<Line> lines;  // as many as there is to say; may be wider than asked for: they are cut later
};

PageText region_page(const ScreenModel& model, std::size_t width);
PageText finding_page(const ScreenModel& model, std::size_t width);
PageText blocked_page(const ScreenModel& model, std::size_t width);
PageText calls_page(const ScreenModel& model, std::size_t width);   // the stack of functions over time
PageText phases_page(const ScreenModel& model, std::size_t width);  // of logical time: who is late
PageText help_page(std::size_t width);

}  // namespace pclscope::screen
