#include "viewer/gui/logical/cluster_glyphs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/layout/logical_picture.hpp"

namespace pclscope::gui {
namespace {

using layout::ClusterGlyph;
using layout::Point;
using layout::Rect;

constexpr float line_room = 0.16f;    // of a row's height above and below the glyphs, for lines in and out
constexpr float most_line_room = 12;  // points
constexpr float most_thick = 7;       // points of a line that stands for all members
constexpr float readable = 15;        // pixels of a step: from here on pies have numbers
constexpr float faded_alpha = 0.25f;
constexpr float dash = 3;  // pixels

// The part of a step's width that its glyph takes.
Rect cell(const ClusterPaint& paint, std::uint32_t step, float top, float bottom) {
  const float left = paint.axis.x(step), wide = paint.axis.step_width();
  const float gap = wide >= 5 ? 1 + 0.08f * wide : 0;
  return {{left + gap / 2, top}, {std::max(left + 1, left + wide - gap / 2), bottom}};
}

float line_room_of(const ClusterPaint& paint, float height) {
  return std::min(height * line_room, most_line_room * paint.scene.scale);
}

// A quarter of a circle for the largest number, with the number.
void draw_pie(const ClusterPaint& paint, const ClusterGlyph& glyph, const Rect& at, layout::Rgba colour) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float share = glyph.completed / static_cast<float>(std::max(1u, paint.picture.of->most_completed));
  const float radius = std::min(at.width(), at.height()) * 0.9f;
  const ImVec2 corner{at.low.x, at.high.y};
  constexpr float pi = 3.14159265f;
  list.PathLineTo(corner);
  list.PathArcTo(corner, radius, -pi / 2, -pi / 2 + pi / 2 * std::clamp(share, 0.05f, 1.f), 12);
  list.PathFillConvex(to_imgui(colour));
  list.AddRect(to_imgui(at.low), to_imgui(at.high), to_imgui(colour.with_alpha(0.5f)));
  const int number = static_cast<int>(std::lround(glyph.completed));
  const std::string text = std::to_string(number);
  if (at.width() >= readable && text_size(text).x < at.width())
    draw_text(list, {at.high.x - text_size(text).x - 1, at.low.y}, paint.scene.palette->text, text);
}

void draw_glyph(const ClusterPaint& paint, const ClusterGlyph& glyph, float top, float bottom, float alpha,
                bool lines) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float high = bottom - top, middle = (top + bottom) / 2;
  const auto colour = [&](std::size_t what) {
    const layout::Rgba c = paint.colour(glyph.mean_ns[what]);
    return c.with_alpha(alpha);
  };
  const float out = glyph.share[ClusterGlyph::sends], in = glyph.share[ClusterGlyph::receives],
              all = glyph.share[ClusterGlyph::collectives];
  const Rect whole = cell(paint, glyph.step, top, bottom);
  if (out > 0)
    list.AddRectFilled(to_imgui(whole.low), {whole.high.x, top + std::max(1.f, out * high)},
                       to_imgui(colour(ClusterGlyph::sends)));
  if (in > 0) {
    const Rect part{{whole.low.x, bottom - std::max(1.f, in * high)}, whole.high};
    if (paint.picture.of->pattern == logical::Pattern::waitall && part.width() >= 5 && part.height() >= 5)
      draw_pie(paint, glyph, part, colour(ClusterGlyph::receives));
    else list.AddRectFilled(to_imgui(part.low), to_imgui(part.high), to_imgui(colour(ClusterGlyph::receives)));
  }
  if (all > 0)
    list.AddRectFilled({whole.low.x, middle - std::max(0.5f, all * high / 2)},
                       {whole.high.x, middle + std::max(0.5f, all * high / 2)},
                       to_imgui(colour(ClusterGlyph::collectives)));
  if (!lines || whole.width() < 3) return;
  const layout::Rgba line = paint.scene.palette->successor.with_alpha(0.9f * alpha);
  const float room = line_room_of(paint, high), x = (whole.low.x + whole.high.x) / 2;
  const auto thick = [&](float share) {
    return std::max(1.f, share * std::min(most_thick * paint.scene.scale, whole.width() * 0.6f));
  };
  if (out > 0) list.AddLine({x, top}, {x + room * 0.7f, top - room}, to_imgui(line), thick(out));
  if (in > 0) list.AddLine({x, bottom}, {x - room * 0.7f, bottom + room}, to_imgui(line), thick(in));
}

void draw_dashed(const ClusterPaint& paint, const Rect& at) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 colour = to_imgui(paint.scene.palette->grid);
  for (float x = at.low.x; x < at.high.x; x += 2 * dash)
    for (const float y : {at.low.y, at.high.y}) list.AddLine({x, y}, {std::min(x + dash, at.high.x), y}, colour);
  for (float y = at.low.y; y < at.high.y; y += 2 * dash)
    for (const float x : {at.low.x, at.high.x}) list.AddLine({x, y}, {x, std::min(y + dash, at.high.y)}, colour);
}

// An alternating exchange as a pair: above those that send first, below those that receive first.
void draw_pair(const ClusterPaint& paint, const layout::ClusterRow& row, float top, float bottom, float alpha) {
  const float middle = (top + bottom) / 2, gap = 0.12f * (bottom - top);
  const float edges[2][2] = {{top, middle - gap}, {middle + gap, bottom}};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Rgba colour = paint.scene.palette->successor.with_alpha(0.9f * alpha);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    std::size_t at = 0;
    const auto& glyphs = row.lanes[lane];
    for (const std::uint32_t step : paint.picture.lane_steps[lane]) {
      while (at < glyphs.size() && glyphs[at].step < step) ++at;
      if (step + 1 <= paint.axis.first || step >= paint.axis.end) continue;
      if (at < glyphs.size() && glyphs[at].step == step)
        draw_glyph(paint, glyphs[at], edges[lane][0], edges[lane][1], alpha, false);
      else if (paint.axis.step_width() >= 4) draw_dashed(paint, cell(paint, step, edges[lane][0], edges[lane][1]));
    }
    // Messages, to the other side a step later.
    if (paint.axis.step_width() < 3) continue;
    for (const ClusterGlyph& glyph : glyphs) {
      if (glyph.share[ClusterGlyph::sends] <= 0 || glyph.step + 1 <= paint.axis.first || glyph.step >= paint.axis.end)
        continue;
      const float from = lane == 0 ? edges[0][1] : edges[1][0], to = lane == 0 ? edges[1][0] : edges[0][1];
      list.AddLine({paint.axis.x(glyph.step + 0.5), from}, {paint.axis.x(glyph.step + 1.5), to}, to_imgui(colour),
                   std::max(1.f, glyph.share[ClusterGlyph::sends] * 4 * paint.scene.scale));
    }
  }
}

}  // namespace

layout::Rgba ClusterPaint::colour(float mean_ns) const {
  return layout::metric_colour(*scene.palette, static_cast<double>(mean_ns), static_cast<double>(picture.most_ns));
}

void draw_cluster_row(const ClusterPaint& paint, const layout::ClusterRow& row, Rect at, bool faded) {
  const float room = line_room_of(paint, at.height()), alpha = faded ? faded_alpha : 1;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float top = at.low.y + room, bottom = at.high.y - room;
  list.AddRectFilled({at.low.x, top}, {at.high.x, bottom}, to_imgui(paint.scene.palette->panel));
  if (paint.picture.of->pattern == logical::Pattern::alternating && at.height() >= 12)
    return draw_pair(paint, row, top, bottom, alpha);
  float drawn_to = -1;  // several steps in a pixel: the first one
  for (const ClusterGlyph& glyph : row.glyphs) {
    if (glyph.step + 1 <= paint.axis.first || glyph.step >= paint.axis.end) continue;
    const float x = paint.axis.x(glyph.step);
    if (paint.axis.step_width() < 1 && x < drawn_to) continue;
    drawn_to = std::floor(x) + 1;
    draw_glyph(paint, glyph, top, bottom, alpha, true);
  }
}

void draw_focus_ranks(const ClusterPaint& paint, Rect at, float names_width) {
  const layout::ClusterPicture& picture = paint.picture;
  const session::LogicalPhase& phase = *picture.of->phase;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *paint.scene.palette;
  const float high = at.height() / static_cast<float>(std::max<std::size_t>(1, picture.focus.size()));
  const auto row_of = [&](std::int32_t rank) {
    const auto found = std::lower_bound(picture.focus.begin(), picture.focus.end(), rank);
    return found != picture.focus.end() && *found == rank ? static_cast<int>(found - picture.focus.begin()) : -1;
  };
  const auto y_of = [&](int row) { return at.low.y + high * (static_cast<float>(row) + 0.5f); };
  const float most = picture.of->largest_ns;
  const layout::Rgba line = p.successor.with_alpha(0.9f);
  for (int row = 0; row < static_cast<int>(picture.focus.size()); ++row) {
    const std::int32_t rank = picture.focus[static_cast<std::size_t>(row)];
    const std::string name = std::to_string(rank);
    const bool is_focus = rank == picture.focus_rank;
    if (high >= ImGui::GetFontSize() * 0.9f)
      draw_text(
          list,
          {std::max(at.low.x - names_width, at.low.x - text_size(name).x - 4), y_of(row) - ImGui::GetFontSize() / 2},
          is_focus ? p.text : p.faint_text, name);
    const logical::Part* part = phase.part_of(rank);
    if (part == nullptr) continue;
    const float top = y_of(row) - 0.36f * high, bottom = y_of(row) + 0.36f * high;
    for (std::uint32_t i = part->first; i < part->end; ++i) {
      const session::LogicalBox& box = phase.boxes[i];
      if (box.step + 1 <= paint.axis.first || box.step >= paint.axis.end) continue;
      const Rect where = cell(paint, box.step, top, bottom);
      list.AddRectFilled(to_imgui(where.low), to_imgui(where.high),
                         to_imgui(layout::metric_colour(p, static_cast<double>(phase.value(box, picture.of->metric)),
                                                        static_cast<double>(most))));
    }
  }
  if (paint.axis.step_width() < 3) return;
  for (int row = 0; row < static_cast<int>(picture.focus.size()); ++row) {
    const std::int32_t rank = picture.focus[static_cast<std::size_t>(row)];
    const logical::Part* part = phase.part_of(rank);
    if (part == nullptr) continue;
    for (std::uint32_t i = part->first; i < part->end; ++i) {
      const session::LogicalBox& box = phase.boxes[i];
      if (box.step + 1 <= paint.axis.first || box.step >= paint.axis.end) continue;
      const Point from{paint.axis.x(box.step + 0.5), y_of(row)};
      for (const std::uint32_t other : phase.partners_of(box)) {
        const std::int32_t to = phase.rank_of(other);
        const int to_row = row_of(to);
        if (to_row >= 0 && box.kind == logical::Kind::send) {
          list.AddLine(to_imgui(from), {paint.axis.x(phase.boxes[other].step + 0.5), y_of(to_row)}, to_imgui(line));
        } else if (to_row < 0) {  // a stub inside the box, towards where it would be
          const float side = (box.kind == logical::Kind::send ? 0.4f : -0.4f) * paint.axis.step_width();
          list.AddLine(to_imgui(from), {from.x + side, from.y + (to < rank ? -0.36f : 0.36f) * high}, to_imgui(line));
        }
      }
    }
  }
}

std::vector<TreeMark> draw_tree(const ClusterPaint& paint, const std::vector<std::uint32_t>& open,
                                const std::vector<float>& y, Rect at) {
  std::vector<TreeMark> marks;
  const layout::ClusterTree& tree = paint.picture.of->tree;
  if (tree.nodes.empty()) return marks;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *paint.scene.palette;
  const double most = std::max(tree.nodes[tree.root()].distance_s, 1e-12);
  const float dot = std::min(4 * paint.scene.scale, at.width() * 0.2f);
  const auto x_of = [&](double distance_s) {
    return at.high.x - dot - (at.width() - 2 * dot) * static_cast<float>(std::clamp(distance_s / most, 0.0, 1.0));
  };
  std::size_t row = 0;
  const ImU32 colour = to_imgui(p.faint_text);
  // Returns where its line begins.
  const std::function<Point(std::uint32_t)> draw = [&](std::uint32_t number) -> Point {
    const layout::ClusterTree::Node& node = tree.nodes[number];
    const bool leaf = node.left < 0, opened = !leaf && std::binary_search(open.begin(), open.end(), number);
    Point here;
    if (!opened) {
      here = {leaf ? at.high.x - dot : x_of(node.distance_s), row < y.size() ? y[row] : at.high.y};
      ++row;
      list.AddLine(to_imgui(here), {at.high.x, here.y}, colour);
    } else {
      const Point a = draw(static_cast<std::uint32_t>(node.left)), b = draw(static_cast<std::uint32_t>(node.right));
      here = {x_of(node.distance_s), (a.y + b.y) / 2};
      list.AddLine({here.x, a.y}, to_imgui(a), colour);
      list.AddLine({here.x, b.y}, to_imgui(b), colour);
      list.AddLine({here.x, a.y}, {here.x, b.y}, colour);
    }
    if (!leaf) {
      list.AddCircleFilled(to_imgui(here), dot, to_imgui(opened ? p.panel : p.text));
      list.AddCircle(to_imgui(here), dot, to_imgui(p.text));
      marks.push_back({number, here, opened});
    }
    return here;
  };
  draw(tree.root());
  return marks;
}

}  // namespace pclscope::gui
