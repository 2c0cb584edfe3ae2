// Before and after of a better placement, as bars and as matrices of nodes (PCLVis, Figures 1e and 12).
#pragma once

#include <imgui.h>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/mapping_preview.hpp"

namespace pclscope::gui {

float mapping_change_height(const layout::MappingPreview& preview, float width, float scale);
void draw_mapping_change(ImDrawList& list, const layout::Palette& palette, float scale,
                         const layout::MappingPreview& preview, const layout::Rect& at);

}  // namespace pclscope::gui
