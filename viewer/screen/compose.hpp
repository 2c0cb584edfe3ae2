// The picture of the full-screen watch: a model as lines of text.
#pragma once

#include <cstddef>
#include <vector>

#include "viewer/screen/line.hpp"
#include "viewer/screen/model.hpp"

namespace pclscope::screen {

struct Picture {
  std::vector<Line> lines;  // exactly `height`, each at most `width` columns, free of control characters
  Reach reach;              // for the next key
};

inline constexpr std::size_t least_width = 36, least_height = 8;

// Smaller windows than the least get a line that says so, as far as it fits.
Picture compose(const ScreenModel& model, std::size_t width, std::size_t height);

}  // namespace pclscope::screen
