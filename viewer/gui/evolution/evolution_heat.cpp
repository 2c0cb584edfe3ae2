#include "viewer/gui/evolution/evolution_heat.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"

namespace pclscope::gui {
namespace {

using layout::HeatCell;
using layout::HeatPart;
using layout::HeatSheet;
using layout::Point;
using layout::Rect;

constexpr std::size_t rank_columns = 40;  // of a list of ranks under the mouse

// Pixels of the screen: the image is not blurred when it has as many.
Rect map_rect(const EvolutionFrame& frame, Rect area) {
  const HeatSheet& sheet = frame.picture.heat.sheet;
  return {{std::round(frame.sight.x_of_place(sheet.low)), std::round(area.low.y)},
          {std::round(frame.sight.x_of_place(sheet.high)), std::round(area.high.y)}};
}

float y_of(const HeatSheet& sheet, Rect area, std::size_t pixel_row) {
  return area.low.y + area.height() * static_cast<float>(pixel_row) / static_cast<float>(sheet.height);
}

int pixel_of(float at, float low, float high, int pixels) {
  const float share = (at - low) / std::max(high - low, 1.f);
  return std::clamp(static_cast<int>(share * static_cast<float>(pixels)), 0, pixels - 1);
}

std::int32_t region_at(const HeatSheet& sheet, Rect area, float y) {
  return sheet.order[regions_of_row(sheet, pixel_of(y, area.low.y, area.high.y, sheet.height)).first];
}

std::optional<std::size_t> index_of(const HeatSheet& sheet, std::optional<std::int32_t> region) {
  const auto found = region ? std::find(sheet.order.begin(), sheet.order.end(), *region) : sheet.order.end();
  if (found == sheet.order.end()) return std::nullopt;
  return static_cast<std::size_t>(found - sheet.order.begin());
}

const session::RegionHistory* history_of(const HeatSheet& sheet, std::int32_t region) {
  const auto found = sheet.history->regions().find(region);
  return found == sheet.history->regions().end() ? nullptr : &found->second;
}

// Growth or a steady period of the region at a moment.
const Period* heat_period(const HeatSheet& sheet, std::int32_t region, double second) {
  const session::RegionHistory* history = history_of(sheet, region);
  if (!history) return nullptr;
  for (const Period& p : history->periods) {
    if (p.kind != PeriodKind::other && p.begin_s <= second && second < p.end_s) return &p;
  }
  return nullptr;
}

std::string ranks_words(const Scene& scene, std::int32_t id) {
  if (!scene.snapshot) return "";
  const auto& regions = scene.snapshot->regions;
  const auto region = std::find_if(regions.begin(), regions.end(), [&](const Region& r) { return r.id == id; });
  if (region == regions.end()) return "\nno longer there: its ranks are in other regions now";
  return std::string("\nranks ").append(text::compact_ranks(region->ranks, rank_columns));
}

std::string cell_words(const EvolutionFrame& frame, const HeatCell& cell, std::size_t regions, const Period* period) {
  const std::int32_t id = frame.picture.heat.sheet.order[cell.index];
  std::string words = std::string("region ").append(std::to_string(id));
  words.append(cell.ratio > 0 ? ", typical ratio " + text::format_ratio(cell.ratio) : ", no messages");
  words.append(ranks_words(frame.scene, id)).append("\n").append(period_words(frame.scene, cell.begin_s, cell.end_s));
  if (regions > 1) {
    words.append("\nthe latest of ").append(text::format_count(regions)).append(" regions in this line of pixels");
  }
  if (period) words.append("\n\nin a ").append(period_words(frame.scene, *period));
  return words.append(period ? "\nclick: select region and period" : "\nclick: select the region and these windows");
}

}  // namespace

void EvolutionHeat::draw_names(const EvolutionFrame& frame, ImDrawList& list, Selection& selection, Rect area) const {
  const HeatSheet& sheet = frame.picture.heat.sheet;
  const layout::Palette& palette = frame.palette();
  const float line = text_size("0").y, pad = frame.points(6), room = frame.sight.left() - frame.gutter - 2 * pad;
  const auto name = [](std::int32_t region) { return std::string("region ").append(std::to_string(region)); };
  const auto chosen = index_of(sheet, selection.region);
  float chosen_y = -1;
  if (chosen) {
    const HeatPart rows = rows_of_region(sheet, *chosen);
    const float low = y_of(sheet, area, rows.first), high = std::max(y_of(sheet, area, rows.end), low + 2);
    chosen_y = std::clamp((low + high - line) / 2, area.low.y, std::max(area.low.y, area.high.y - line));
    list.AddRectFilled({frame.gutter, low}, {frame.gutter + frame.points(2), high}, to_imgui(palette.selection));
    draw_text(list, {frame.gutter + pad, chosen_y}, palette.text, name(sheet.order[*chosen]), room);
    frame.marks.push_back(
        {"row " + std::to_string(sheet.order[*chosen]), {frame.gutter + pad, std::floor((low + high) / 2)}});
  }
  for (float y = area.low.y; y + line <= area.high.y; y += line * 1.25f) {
    if (chosen && std::fabs(y - chosen_y) < line) continue;
    const std::int32_t region = region_at(sheet, area, y + 1);  // that of the name's upper edge: the first is the worst
    draw_text(list, {frame.gutter + pad, y}, palette.faint_text, name(region), room);
    frame.marks.push_back({"row " + std::to_string(region), {frame.gutter + pad, y + 1}});
  }
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("map names", {std::max(1.f, frame.sight.left() - area.low.x), area.height()});
  if (!ImGui::IsItemHovered()) return;
  const std::int32_t region = region_at(sheet, area, ImGui::GetIO().MousePos.y);
  const session::RegionHistory* history = history_of(sheet, region);
  tooltip(row_words(frame, {region, history ? history->average : 0, {}, {}}));
  if (ImGui::IsItemClicked()) selection.region = region;
}

void EvolutionHeat::draw_selected(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                                  Rect area) const {
  const HeatSheet& sheet = frame.picture.heat.sheet;
  const auto chosen = index_of(sheet, selection.region);
  if (!chosen) return;
  const HeatPart rows = rows_of_region(sheet, *chosen);
  const float low = y_of(sheet, area, rows.first) - 1, high = y_of(sheet, area, rows.end) + 1;
  const ImU32 colour = to_imgui(frame.palette().selection);
  list.AddRect({frame.sight.left(), low}, {frame.sight.right(), high},
               to_imgui(frame.palette().selection.with_alpha(0.5f)));
  if (!selection.period) return;
  const float left = frame.sight.x(selection.period->begin_s),
              right = std::max(frame.sight.x(selection.period->end_s), left + 2);
  list.AddRect({left, low}, {right, high}, colour, 0, ImDrawFlags_None, 1.5f * frame.scene.scale);
}

// The worst pixel of the map; how many have messages.
void EvolutionHeat::mark_cells(const EvolutionFrame& frame, Rect map) const {
  const layout::RegionHeat& heat = frame.picture.heat;
  frame.marks.push_back({"heat " + std::to_string(heat.coloured), map.middle()});
  const Point pixel{map.width() / static_cast<float>(heat.sheet.width),
                    map.height() / static_cast<float>(heat.sheet.height)};
  const Point at{map.low.x + (static_cast<float>(heat.worst_x) + 0.5f) * pixel.x,
                 map.low.y + (static_cast<float>(heat.worst_y) + 0.5f) * pixel.y};
  if (at.x >= frame.sight.left() && at.x < frame.sight.right()) frame.marks.push_back({"worst cell", at});
}

void EvolutionHeat::react(const EvolutionFrame& frame, ImDrawList& list, Selection& selection, Rect map) const {
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  if (!ImGui::IsItemHovered() || mouse.x < map.low.x || mouse.x >= map.high.x) return;
  const HeatSheet& sheet = frame.picture.heat.sheet;
  const int y = pixel_of(mouse.y, map.low.y, map.high.y, sheet.height);
  const HeatCell cell = heat_cell(sheet, pixel_of(mouse.x, map.low.x, map.high.x, sheet.width), y);
  const std::int32_t region = sheet.order[cell.index];
  const HeatPart rows = rows_of_region(sheet, cell.index), regions = regions_of_row(sheet, y);
  const Period* period = heat_period(sheet, region, (cell.begin_s + cell.end_s) / 2);
  const float left = frame.sight.x(cell.begin_s), right = std::max(frame.sight.x(cell.end_s), left + 2);
  list.AddRect({left - 1, y_of(sheet, map, rows.first) - 1}, {right + 1, y_of(sheet, map, rows.end) + 1},
               to_imgui(frame.palette().selection), 0, ImDrawFlags_None, frame.scene.scale);
  tooltip(cell_words(frame, cell, regions.end - regions.first, period));
  if (!ImGui::IsItemClicked()) return;
  selection.region = region;
  if (period) selection.period = SelectedPeriod{period->begin_s, period->end_s};
  else if (cell.ratio > 0) selection.period = SelectedPeriod{cell.begin_s, cell.end_s};
}

void EvolutionHeat::draw(const EvolutionFrame& frame, const std::shared_ptr<const layout::EvolutionPicture>& picture,
                         Selection& selection, Rect area) {
  const layout::RegionHeat& heat = frame.picture.heat;
  if (area.height() < 1 || area.width() < 1 || heat.image.rgba.empty()) return;
  if (uploaded_ != picture) {
    texture_.upload(heat.image);
    uploaded_ = picture;
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Rect map = map_rect(frame, area);
  list.PushClipRect({frame.sight.left(), area.low.y}, {frame.sight.right(), area.high.y}, true);
  shade_sections(frame, list, area.low.y, area.high.y);
  if (texture_.id()) list.AddImage(texture_.id(), to_imgui(map.low), to_imgui(map.high));
  list.PopClipRect();
  mark_cells(frame, map);
  draw_names(frame, list, selection, area);
  list.PushClipRect({frame.sight.left() - 1, area.low.y - 1}, {frame.sight.right() + 1, area.high.y + 1}, true);
  ImGui::SetCursorScreenPos({frame.sight.left(), area.low.y});
  ImGui::InvisibleButton("map", {std::max(1.f, frame.sight.width()), area.height()});
  react(frame, list, selection, map);
  draw_selected(frame, list, selection, area);
  shade_selected(frame, list, selection, area.low.y, area.high.y);
  list.PopClipRect();
}

}  // namespace pclscope::gui
