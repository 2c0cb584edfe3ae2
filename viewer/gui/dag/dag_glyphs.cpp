#include "viewer/gui/dag/dag_glyphs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

constexpr float least_text = 6, least_ellipse = 8, least_full = 11;  // ring radii in points
constexpr std::size_t most_ellipses = 220, most_full = 130;
constexpr int ellipse_corners = 22;

bool dark(layout::Rgba c) { return 299 * c.red + 587 * c.green + 114 * c.blue < 128'000; }

void fill_ellipse(ImDrawList& list, layout::Point middle, float half_width, float half_height, ImU32 colour) {
  std::array<ImVec2, ellipse_corners> corners;
  for (int i = 0; i < ellipse_corners; ++i) {
    const float angle = 2 * std::numbers::pi_v<float> * static_cast<float>(i) / ellipse_corners;
    corners[static_cast<std::size_t>(i)] = {middle.x + std::cos(angle) * half_width,
                                            middle.y + std::sin(angle) * half_height};
  }
  list.AddConvexPolyFilled(corners.data(), ellipse_corners, colour);
}

void fill_bar(ImDrawList& list, const layout::GlyphBar& bar, const GlyphPlace& place, ImU32 colour) {
  std::vector<layout::Point> strip;
  layout::bar_strip(bar, place.middle, place.radius, strip);
  const ImDrawListFlags flags = list.Flags;
  if (strip.size() > 4) list.Flags &= ~ImDrawListFlags_AntiAliasedFill;  // else seams would look like ends of bars
  for (std::size_t i = 0; i + 3 < strip.size(); i += 2)
    list.AddQuadFilled(to_imgui(strip[i]), to_imgui(strip[i + 1]), to_imgui(strip[i + 3]), to_imgui(strip[i + 2]),
                       colour);
  list.Flags = flags;
}

// In the middle; below it where the ellipse is too flat to hold it.
void draw_rank(ImDrawList& list, const layout::CsGlyph& glyph, const GlyphPlace& place, const layout::Palette& palette,
               layout::Rgba colour, std::int32_t rank) {
  const std::string text = std::to_string(rank);
  const float font = ImGui::GetFontSize(), full = text_size(text).x;
  const float room = (place.detail == GlyphDetail::disc ? 1.8f : 1.f) * place.radius;
  const float size = std::clamp(font * room / std::max(full, 1.f), 0.68f * font, std::max(font, place.radius * 0.5f));
  const float width = full * size / font;
  if (width > 2.2f * place.radius) return;
  const bool holds = place.detail == GlyphDetail::disc || glyph.half_height * place.radius >= 0.5f * size;
  const layout::Rgba ink = dark(colour) ? layout::Rgba{255, 255, 255} : layout::Rgba{0, 0, 0};
  if (holds)
    return list.AddText(ImGui::GetFont(), size, {place.middle.x - width / 2, place.middle.y - size / 2}, to_imgui(ink),
                        text.c_str());
  // Beside a flat ellipse, on a plate: struck through, 23 would read as 28.
  const float pad = 1.5f * place.scale;
  const layout::Point low = place.middle + layout::Point{-width / 2, glyph.half_height * place.radius + pad};
  list.AddRectFilled({low.x - pad, low.y}, {low.x + width + pad, low.y + size}, to_imgui(palette.background),
                     2 * place.scale);
  list.AddText(ImGui::GetFont(), size, to_imgui(low), to_imgui(palette.text), text.c_str());
}

}  // namespace

GlyphDetail glyph_detail(float radius, std::size_t visible, float scale) {
  if (radius >= least_full * scale && visible <= most_full) return GlyphDetail::full;
  return radius >= least_ellipse * scale && visible <= most_ellipses ? GlyphDetail::ellipse : GlyphDetail::disc;
}

void draw_glyph(ImDrawList& list, const layout::CsGlyph& glyph, const GlyphPlace& place, const layout::Palette& palette,
                layout::Rgba colour, std::int32_t rank, std::size_t folded) {
  const float r = place.radius;
  if (place.detail != GlyphDetail::disc) {
    list.AddCircleFilled(to_imgui(place.middle), r, to_imgui(palette.background), 0);
    if (place.detail == GlyphDetail::full)
      for (const layout::GlyphBar& bar : glyph.bars) fill_bar(list, bar, place, to_imgui(palette.latency(bar.ratio)));
    draw_ring(list, place, palette.faint_text, place.scale);
    if (folded > 0) list.AddCircle(to_imgui(place.middle), r * 1.12f, to_imgui(palette.faint_text), 0, place.scale);
    fill_ellipse(list, place.middle, glyph.half_width * r, glyph.half_height * r, to_imgui(colour));
  }
  if (rank >= 0 && r >= least_text * place.scale) draw_rank(list, glyph, place, palette, colour, rank);
  if (folded == 0 || place.detail == GlyphDetail::disc) return;
  const std::string more = std::string("+").append(std::to_string(folded));
  const layout::Point size = text_size(more);
  draw_text(list, {place.middle.x + r * 1.25f, place.middle.y + r * 0.9f - size.y / 2}, palette.faint_text, more);
}

void draw_ring(ImDrawList& list, const GlyphPlace& place, layout::Rgba colour, float width) {
  list.AddCircle(to_imgui(place.middle), place.radius, to_imgui(colour), 0, width);
}

void outline_bar(ImDrawList& list, const layout::GlyphBar& bar, const GlyphPlace& place, layout::Rgba colour) {
  std::vector<layout::Point> strip;
  layout::bar_strip(bar, place.middle, place.radius, strip);
  for (std::size_t i = 0; i < strip.size(); i += 2) list.PathLineTo(to_imgui(strip[i]));
  for (std::size_t i = strip.size(); i > 0; i -= 2) list.PathLineTo(to_imgui(strip[i - 1]));
  list.PathStroke(to_imgui(colour), ImDrawFlags_Closed, 1.5f * place.scale);
}

void draw_link(ImDrawList& list, const std::vector<layout::Point>& knots, float zoom, layout::Point offset,
               layout::Rgba colour, float width) {
  std::vector<layout::Point> points;
  layout::sample_route(knots, zoom, points);
  const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const layout::Point a = points[i] * zoom + offset, b = points[i + 1] * zoom + offset;
    if (std::max(a.x, b.x) < low.x || std::min(a.x, b.x) > high.x || std::max(a.y, b.y) < low.y ||
        std::min(a.y, b.y) > high.y) {
      list.PathStroke(to_imgui(colour), 0, width);
      continue;
    }
    if (list._Path.empty()) list.PathLineTo(to_imgui(a));
    list.PathLineTo(to_imgui(b));
  }
  list.PathStroke(to_imgui(colour), 0, width);
}

}  // namespace pclscope::gui
