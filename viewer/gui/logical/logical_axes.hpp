// Around the boxes of the logical timeline: ranks at the left edge, steps below. Functions.
#pragma once

#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/logical_picture.hpp"

struct ImDrawList;

namespace pclscope::gui {

// Marks "logical rank N" where it can be clicked.
void draw_rank_axis(ImDrawList& list, const Scene& scene, const Selection& selection, const layout::LogicalSight& sight,
                    const layout::Rect& gutter, const layout::Rect& area, std::vector<Mark>& marks);
void draw_step_axis(ImDrawList& list, const Scene& scene, const layout::LogicalSight& sight, const layout::Rect& area);

}  // namespace pclscope::gui
