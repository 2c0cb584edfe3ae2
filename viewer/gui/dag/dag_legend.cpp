#include "viewer/gui/dag/dag_legend.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/dag/dag_glyphs.hpp"

namespace pclscope::gui {
namespace {

struct Entry {
  const char* label;
  const char* meaning;
};

constexpr std::array<Entry, 6> entries{{
    {"ellipse: rank, colour: its compute node",
     "The ellipse is a rank while it first receives, then sends. Colour: mean L of what the ranks of its compute node "
     "received; where all ranks are on one node: of what the rank itself received here "
     "(L: transmission time by the usual time for such a size; blue below, grey 1, red above)."},
    {"flat: unbalanced load (LB)",
     "The flatter, the farther its number of messages is from the mean of all ranks: LB = |messages - mean| / mean "
     "deviation. A circle: about as all others (less than 5 % apart)."},
    {"bars inside: received",
     "One bar for each message received, inside the ring, from the left. Very many share bars."},
    {"bars outside: sent", "One bar for each message sent, outside the ring, around the right."},
    {"length: time, height: size, colour: L",
     "Along the ring: transmission time (linear, same scale in all glyphs). Away from the ring: size (logarithmic). "
     "Colour: L of the "
     "message."},
    {"links: messages, colour: L; bold: critical path",
     "Links run from left to right, from the sender's node to the receiver's; red: late; wide: many messages. The bold "
     "line is the critical path of the run, where it passes through these nodes (of a dump). "
     "Hover a node: links from former nodes are red, links to latter ones blue, what lies farther is faint."},
}};

// A circle with bars of all kinds.
layout::CsGlyph example() {
  DagNode node;
  node.received = {{-1, 0, 0, 4096, 0, 0.6, 1}, {-1, 0, 0, 65536, 0, 1.4, 8}};
  node.sent = {{-1, 0, 0, 65536, 0, 0.8, 1}, {-1, 0, 0, 256, 0, 0.5, 2.5}, {-1, 0, 0, 65536, 0, 0.6, 1}};
  return layout::cs_glyph(node, 0.8, {5, 65536});
}

// Entries in columns, as many as fit, filled from top to bottom; all sizes in pixels.
struct Plan {
  float pad = 0, line = 0, radius = 0, column = 0;
  std::size_t columns = 1, rows = entries.size();
  float glyph_width() const { return 2.9f * radius + 2 * pad; }
  float width() const { return glyph_width() + column * static_cast<float>(columns) + pad; }
  float height() const { return std::max(2.9f * radius, line * static_cast<float>(rows)) + pad; }
  layout::Point at(const layout::Rect& box, std::size_t entry) const {
    const float over = (box.height() - line * static_cast<float>(rows)) / 2;
    const std::size_t right = entry / rows, down = entry % rows;
    return {box.low.x + glyph_width() + column * static_cast<float>(right),
            box.low.y + over + line * static_cast<float>(down)};
  }
};

Plan plan(float width, float scale) {
  Plan made{6 * scale, ImGui::GetFontSize() + 3 * scale, 18 * scale};
  for (const Entry& entry : entries) made.column = std::max(made.column, text_size(entry.label).x + 3 * made.pad);
  for (made.columns = 3; made.columns > 1 && made.width() > width; --made.columns) {}
  made.rows = (entries.size() + made.columns - 1) / made.columns;
  return made;
}

// The colours of L, at the right end when there is room.
void draw_colours(ImDrawList& list, const layout::Rect& box, const Plan& p, const Scene& scene, bool hovered) {
  constexpr int steps = 16;
  const float width = 90 * scene.scale, height = 9 * scene.scale;
  const layout::Point low{box.high.x - width - 5 * p.pad - text_size("8x L").x, box.middle().y - height / 2};
  if (low.x < box.low.x + p.width() + text_size("1/4").x + p.pad) return;
  for (int i = 0; i < steps; ++i) {
    const float from = static_cast<float>(i) / steps, to = static_cast<float>(i + 1) / steps;
    list.AddRectFilled({low.x + from * width, low.y}, {low.x + to * width, low.y + height},
                       to_imgui(scene.palette->latency(std::exp2(-2 + 5 * (from + to) / 2))));
  }
  const float text = box.middle().y - ImGui::GetFontSize() / 2;
  draw_text(list, {low.x - p.pad - text_size("1/4").x, text}, scene.palette->faint_text, "1/4");
  draw_text(list, {low.x + width + p.pad, text}, scene.palette->faint_text, "8x L");
  if (hovered && layout::Rect{low, low + layout::Point{width, height}}.holds(to_point(ImGui::GetIO().MousePos)))
    tooltip(
        "L: a message's transmission time by the usual time for its size. Blue: 1/4 and less, grey: as usual, red: 8 "
        "times and more.");
}

}  // namespace

std::optional<layout::Rect> dag_legend_box(const layout::Rect& area, float scale) {
  const Plan p = plan(area.width(), scale);
  if (area.width() < p.width() || area.height() < 4 * p.height()) return std::nullopt;
  return layout::Rect{{area.low.x, area.high.y - p.height()}, area.high};
}

bool draw_dag_legend(ImDrawList& list, const layout::Rect& box, const Scene& scene) {
  static const layout::CsGlyph glyph = example();
  const layout::Palette& palette = *scene.palette;
  const Plan p = plan(box.width(), scene.scale);
  list.AddRectFilled(to_imgui(box.low), to_imgui(box.high), to_imgui(palette.panel.with_alpha(0.93f)));
  const layout::Point middle{box.low.x + p.glyph_width() / 2, box.middle().y};
  draw_glyph(list, glyph, {middle, p.radius, GlyphDetail::full, scene.scale}, palette, palette.latency(1.6), 7, 0);
  const layout::Point mouse = to_point(ImGui::GetIO().MousePos);
  const bool hovered = box.holds(mouse) && ImGui::IsWindowHovered();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const layout::Point at = p.at(box, i);
    const bool over = hovered && layout::Rect{at, {at.x + p.column, at.y + p.line}}.holds(mouse);
    draw_text(list, at, over ? palette.text : palette.faint_text, entries[i].label);
    if (over) tooltip(entries[i].meaning);
  }
  draw_colours(list, box, p, scene, hovered);
  const float away = layout::distance(mouse, middle);
  if (!hovered || away > p.radius * 1.45f) return hovered;
  const int bar = layout::bar_at(glyph, (mouse - middle) * (1 / p.radius));
  const std::size_t part = bar >= 0                 ? (glyph.bars[static_cast<std::size_t>(bar)].sent ? 3 : 2)
                           : away < p.radius * 0.6f ? 0
                                                    : 4;
  tooltip(entries[part].meaning);
  return true;
}

}  // namespace pclscope::gui
