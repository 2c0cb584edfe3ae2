// The views that there are (views.def). Read only.
#pragma once

#include <memory>
#include <span>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

struct ViewEntry {
  const char* name;  // what --only takes
  std::unique_ptr<View> (*make)();
};

// At most nine: each has a key.
std::span<const ViewEntry> all_views();

}  // namespace pclscope::gui
