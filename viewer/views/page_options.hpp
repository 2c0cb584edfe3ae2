// How text is drawn.
#pragma once

#include <cstddef>

namespace pclscope::views {

struct PageOptions {
  std::size_t width = 80;   // columns
  std::size_t height = 24;  // lines
  bool ascii = false;       // no block characters
};

}  // namespace pclscope::views
