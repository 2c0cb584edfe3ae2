// Font and colours of ImGui itself.
#pragma once

#include "viewer/layout/palette.hpp"

namespace pclscope::gui {

// A font that can be read at this scale: DejaVu Sans where the system has it, else ImGui's own. Before the first
// frame.
void load_font(float scale);
// After the font, and again when theme or scale change.
void apply_style(const layout::Palette& palette, float scale);

}  // namespace pclscope::gui
