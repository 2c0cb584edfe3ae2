// Drawing of the DAG view's glyphs and links afresh: what is near, hovered or selected. The rest is in an image
// (layout/dag_image.hpp).
#pragma once

#include <imgui.h>

#include <span>

#include "viewer/layout/dag_picture.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::gui {

// How much of the CS-glyph is drawn, by its size on the screen and by how many there are.
enum class GlyphDetail {
  disc,     // drawn in the image; here the rank at most
  ellipse,  // ring and ellipse with the rank
  full,     // and the bars
};
GlyphDetail glyph_detail(float radius, std::size_t visible, float scale);

struct GlyphPlace {
  layout::Point middle;  // pixels
  float radius = 1;      // of the ring, pixels
  GlyphDetail detail = GlyphDetail::full;
  float scale = 1;  // HiDPI
};

// `rank` below 0: no text. `folded`: nodes that it stands for beyond itself.
void draw_glyph(ImDrawList& list, const layout::CsGlyph& glyph, const GlyphPlace& place, const layout::Palette& palette,
                layout::Rgba colour, std::int32_t rank, std::size_t folded);
void draw_ring(ImDrawList& list, const GlyphPlace& place, layout::Rgba colour, float width);
void outline_bar(ImDrawList& list, const layout::GlyphBar& bar, const GlyphPlace& place, layout::Rgba colour);

// Knots in the layout's plane, which `zoom` and `offset` bring to the screen.
void draw_link(ImDrawList& list, const std::vector<layout::Point>& knots, float zoom, layout::Point offset,
               layout::Rgba colour, float width);

}  // namespace pclscope::gui
