#include "viewer/gui/logical/logical_axes.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

constexpr std::size_t most_rank_marks = 32;

}  // namespace

using layout::LogicalSight;
using layout::Rect;

// Ranks at the left edge; who is selected has a bar.
void draw_rank_axis(ImDrawList& list, const Scene& scene, const Selection& selection, const LogicalSight& sight,
                    const Rect& gutter, const Rect& area, std::vector<Mark>& marks) {
  const layout::Palette& p = *scene.palette;
  const auto bar = [&](std::int32_t first, std::int32_t last, layout::Rgba colour, float wide) {
    const float top = std::max(area.low.y, area.low.y + sight.y(first)),
                bottom = std::min(area.high.y, area.low.y + sight.y(last + 1));
    if (bottom > top)
      list.AddRectFilled({area.low.x - wide, top}, {area.low.x - 1, std::max(bottom, top + 1)}, to_imgui(colour));
  };
  const auto runs = [&](const std::vector<std::int32_t>& ranks, layout::Rgba colour, float wide) {
    for (std::size_t i = 0, j = 0; i < ranks.size(); i = j) {
      for (j = i + 1; j < ranks.size() && ranks[j] == ranks[j - 1] + 1; ++j) {}
      bar(ranks[i], ranks[j - 1], colour, wide);
    }
  };
  if (selection.region && scene.snapshot) {
    for (const Region& region : scene.snapshot->regions)
      if (region.id == *selection.region) runs(region.ranks, p.region(region.id), 4 * scene.scale);
  }
  runs(selection.ranks, p.selection, 3 * scene.scale);
  if (selection.rank) {
    bar(*selection.rank, *selection.rank, p.selection, 5 * scene.scale);
    const float y = area.low.y + sight.y(*selection.rank), h = static_cast<float>(sight.rank_height());
    if (h < 40 * scene.scale && y > area.low.y && y + h < area.high.y) {
      list.AddLine({area.low.x, y - 0.5f}, {area.high.x, y - 0.5f}, to_imgui(p.selection.with_alpha(0.5f)));
      list.AddLine({area.low.x, y + h + 0.5f}, {area.high.x, y + h + 0.5f}, to_imgui(p.selection.with_alpha(0.5f)));
    }
  }
  const int most = std::max(1, static_cast<int>(area.height() / (1.6f * line_height())));
  std::size_t marked = 0;
  for (const double tick : ticks(std::floor(sight.rank0), sight.rank1 - 1e-9, most)) {
    if (tick != std::floor(tick) || tick < sight.rank0) continue;
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    const float y = area.low.y + sight.y(tick + 0.5);
    if (y > area.high.y) break;
    draw_text(list,
              {std::max(gutter.low.x, area.low.x - 6 * scene.scale - text_size(text).x), y - ImGui::GetFontSize() / 2},
              p.faint_text, text);
    if (++marked <= most_rank_marks)
      marks.push_back({"logical rank " + std::to_string(static_cast<std::int32_t>(tick)), {area.low.x - 3, y}});
  }
}

void draw_step_axis(ImDrawList& list, const Scene& scene, const LogicalSight& sight, const Rect& area) {
  const float below = area.high.y;
  const int most = std::max(1, static_cast<int>(area.width() / (90 * scene.scale)));
  for (const double tick : ticks(std::floor(sight.step0), sight.step1 - 1e-9, most)) {
    if (tick != std::floor(tick) || tick < sight.step0) continue;
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    const float x = area.low.x + sight.x(tick + 0.5);
    if (x + text_size(text).x / 2 > area.high.x) break;
    draw_text(list, {x - text_size(text).x / 2, below + 1}, scene.palette->faint_text, text);
  }
  const std::string text = "step";
  draw_text(list, {area.low.x - text_size(text).x - 2, below + 1}, scene.palette->faint_text, text);
}

}  // namespace pclscope::gui
