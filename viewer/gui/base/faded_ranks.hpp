// Who is not selected fades, in pictures with a row for each rank. Function.
#pragma once

#include <functional>

#include "viewer/gui/base/view.hpp"

struct ImDrawList;

namespace pclscope::gui {

// A veil over the pixel rows of `area` without any of several selected ranks. `rank_at`: the rank, with its fraction,
// at a distance in pixels below the upper edge; it rises.
void fade_other_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const layout::Rect& area,
                      const std::function<double(float)>& rank_at);

}  // namespace pclscope::gui
