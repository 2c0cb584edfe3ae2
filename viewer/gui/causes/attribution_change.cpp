#include "viewer/gui/causes/attribution_change.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::MappingPreview;
using layout::MappingSide;
using layout::Point;
using layout::Rect;

constexpr float matrix_points = 96;

float matrix_side(float width, float scale) { return std::min(matrix_points * scale, (width - 24 * scale) / 2); }
bool has_matrix(const MappingPreview& p, float width, float scale) {
  return p.groups > 1 && matrix_side(width, scale) >= 2 * static_cast<float>(p.groups);
}

double share_between(const MappingSide& side) {
  const double all = static_cast<double>(side.intra) + static_cast<double>(side.inter);
  return all > 0 ? static_cast<double>(side.inter) / all : 0;
}

std::string saved_text(const MappingPreview& p) {
  if (p.after.inter >= p.before.inter) return "no placement with fewer messages between nodes was found";
  const double saved = 1 - static_cast<double>(p.after.inter) / static_cast<double>(p.before.inter);
  return text::format_count(p.before.inter) + " -> " + text::format_count(p.after.inter) +
         " messages between nodes (-" + text::format_share(saved) + "), " + std::to_string(p.moved) +
         (p.moved == 1 ? " rank moves" : " ranks move");
}

// "now [====red====|blue] 38% between nodes".
void draw_bar(ImDrawList& list, const layout::Palette& palette, float scale, const char* name, const MappingSide& side,
              const Rect& at) {
  const float names = text_size("proposed").x + 8 * scale, words = text_size("100% between nodes").x + 8 * scale;
  draw_text(list, at.low, palette.faint_text, name);
  const float left = at.low.x + names, right = std::max(left + 10, at.high.x - words), pad = 2 * scale;
  const float border = left + (right - left) * static_cast<float>(share_between(side));
  list.AddRectFilled({left, at.low.y + pad}, {border, at.high.y - pad}, to_imgui(palette.predecessor));
  list.AddRectFilled({border, at.low.y + pad}, {right, at.high.y - pad}, to_imgui(palette.successor));
  draw_text(list, {right + 6 * scale, at.low.y}, palette.text,
            text::format_share(share_between(side)) + " between nodes", at.high.x - right - 6 * scale);
  const Rect bar{{left, at.low.y}, {right, at.high.y}};
  if (ImGui::IsWindowHovered() && bar.holds(to_point(ImGui::GetIO().MousePos)))
    tooltip(std::string(name) + ": " + text::format_count(side.intra) + " messages within nodes (blue), " +
            text::format_count(side.inter) + " between nodes (red)");
}

std::string group_text(const MappingPreview& p, std::size_t group) {
  const std::size_t first = group * static_cast<std::size_t>(p.nodes_per_group);
  if (p.nodes_per_group == 1) return "node " + std::to_string(first);
  return "nodes " + std::to_string(first) + " to " +
         std::to_string(first + static_cast<std::size_t>(p.nodes_per_group) - 1);
}

// Darkest for the most messages in either matrix, by the square root so that few are seen too.
void draw_matrix(ImDrawList& list, const layout::Palette& palette, const MappingPreview& p, const MappingSide& side,
                 double most, const Rect& at) {
  const auto groups = static_cast<std::size_t>(p.groups);
  const float cell = at.width() / static_cast<float>(groups);
  list.AddRectFilled(to_imgui(at.low), to_imgui(at.high), to_imgui(palette.panel));
  for (std::size_t row = 0; row < groups; ++row) {
    for (std::size_t column = 0; column < groups; ++column) {
      const auto messages = static_cast<double>(side.matrix[row * groups + column]);
      if (messages <= 0) continue;
      const Point corner{at.low.x + cell * static_cast<float>(column), at.low.y + cell * static_cast<float>(row)};
      const layout::Rgba colour = row == column ? palette.successor : palette.predecessor;
      list.AddRectFilled(to_imgui(corner), to_imgui(corner + Point{cell, cell}),
                         to_imgui(colour.with_alpha(0.15f + 0.85f * static_cast<float>(std::sqrt(messages / most)))));
    }
  }
  list.AddRect(to_imgui(at.low), to_imgui(at.high), to_imgui(palette.grid));
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  if (!ImGui::IsWindowHovered() || !at.holds(mouse)) return;
  const auto index = [&](float from, float to) {
    return std::min(groups - 1, static_cast<std::size_t>(std::max(0.f, (to - from) / cell)));
  };
  const std::size_t row = index(at.low.y, mouse.y), column = index(at.low.x, mouse.x);
  tooltip("from " + group_text(p, row) + " to " + group_text(p, column) + ": " +
          text::format_count(side.matrix[row * groups + column]) +
          " messages. Rows send, columns receive; the diagonal (blue) stays within nodes.");
}

}  // namespace

namespace {

float spaced_height(const std::string& words, float width) {
  return ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), HUGE_VALF, std::max(width, 1.f), words.c_str()).y +
         0.2f * ImGui::GetFontSize();
}

void draw_wrapped(ImDrawList& list, Point at, layout::Rgba colour, const std::string& words, float width) {
  list.AddText(ImGui::GetFont(), ImGui::GetFontSize(), to_imgui(at), to_imgui(colour), words.c_str(), nullptr,
               std::max(width, 1.f));
}

}  // namespace

float mapping_change_height(const MappingPreview& preview, float width, float scale) {
  if (!preview.problem.empty()) return spaced_height(preview.problem, width);
  const float matrices = has_matrix(preview, width, scale) ? matrix_side(width, scale) + line_height() + 6 * scale : 0;
  return spaced_height(saved_text(preview), width) + 2 * line_height() + matrices + 4 * scale;
}

void draw_mapping_change(ImDrawList& list, const layout::Palette& palette, float scale, const MappingPreview& preview,
                         const Rect& at) {
  const float line = line_height();
  if (!preview.problem.empty()) return draw_wrapped(list, at.low, palette.faint_text, preview.problem, at.width());
  draw_wrapped(list, at.low, palette.text, saved_text(preview), at.width());
  float y = at.low.y + spaced_height(saved_text(preview), at.width());
  draw_bar(list, palette, scale, "now", preview.before, {{at.low.x, y}, {at.high.x, y + line}});
  draw_bar(list, palette, scale, "proposed", preview.after, {{at.low.x, y + line}, {at.high.x, y + 2 * line}});
  if (!has_matrix(preview, at.width(), scale)) return;
  y += 2 * line + 6 * scale;
  const float side = matrix_side(at.width(), scale);
  std::uint64_t most = 1;
  for (const MappingSide* s : {&preview.before, &preview.after})
    most = std::max(most, *std::max_element(s->matrix.begin(), s->matrix.end()));
  const float second = at.low.x + side + 24 * scale;
  draw_text(list, {at.low.x, y}, palette.faint_text, "node to node, now", side + 20 * scale);
  draw_text(list, {second, y}, palette.faint_text, "proposed", side);
  y += line;
  draw_matrix(list, palette, preview, preview.before, static_cast<double>(most),
              {{at.low.x, y}, {at.low.x + side, y + side}});
  draw_matrix(list, palette, preview, preview.after, static_cast<double>(most),
              {{second, y}, {second + side, y + side}});
}

}  // namespace pclscope::gui
