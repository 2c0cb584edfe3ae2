// The DAG view's legend: a glyph whose parts say what they mean when the mouse is over them.
#pragma once

#include <imgui.h>

#include <optional>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

// Where it lies in `area`: along the lower edge; none when there is no room.
std::optional<layout::Rect> dag_legend_box(const layout::Rect& area, float scale);
// True when the mouse is over it (and a tooltip shows).
bool draw_dag_legend(ImDrawList& list, const layout::Rect& box, const Scene& scene);

}  // namespace pclscope::gui
