// The sections of the full-screen watch: each is a title and a list of which one entry is selected.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/screen/line.hpp"
#include "viewer/screen/model.hpp"

namespace pclscope::screen {

struct Pane {
  std::vector<Line> lines;  // at most as many as asked for; may be wider than asked for: they are cut later
  std::size_t rows = 1;     // entries in view
};

// Lines that the section would fill, its title included.
std::size_t wanted_lines(const ScreenModel& model, Section section, std::size_t width);
// `height` >= 1; with one line only the title is shown.
Pane region_pane(const ScreenModel& model, std::size_t width, std::size_t height);
Pane finding_pane(const ScreenModel& model, std::size_t width, std::size_t height);
Pane blocked_pane(const ScreenModel& model, std::size_t width, std::size_t height);

// The first of `rows` entries in view such that the selected one is in the middle, as far as there are more.
std::size_t first_in_view(std::size_t selected, std::size_t count, std::size_t rows);
// `words`, with " yet" while the job runs.
std::string not_yet(const ScreenModel& model, const char* words);
// A section's title, with "3-8 of 12" when not all are in view; dim unless the section has the keys.
Line pane_title(const ScreenModel& model, Section section, const std::string& words, std::size_t first,
                std::size_t rows);

}  // namespace pclscope::screen
