#include "viewer/gui/matrix/matrix_overlay.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/mapping/index.hpp"
#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/matrix/matrix_look.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::MatrixLine;
using layout::Point;
using mapping::at;

constexpr std::size_t most_blocks = 40;  // with lines between them

std::int32_t vertex_at(const MatrixSheet& sheet, std::int32_t place) { return sheet.content.order->vertex[at(place)]; }

Point place_on(const MatrixSheet& sheet, double x, double y) { return on_screen(sheet.sight, sheet.area.low, x, y); }

}  // namespace

void draw_matrix_grid(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet) {
  const ImU32 faint = to_imgui(scene.palette->grid.with_alpha(0.6f));
  const double units = sheet.axis.units;
  list.AddLine(to_imgui(place_on(sheet, 0, 0)), to_imgui(place_on(sheet, units, units)), faint);
  const auto& levels = sheet.content.order->blocks;
  const auto few = std::find_if(levels.begin(), levels.end(), [](const auto& l) { return l.size() <= most_blocks; });
  if (few != levels.end())
    for (const std::int32_t start : *few) {
      const MatrixLine& line = sheet.axis.lines[at(sheet.axis.line_of_place[at(start)])];
      if (line.folded && line.first != start) continue;
      list.AddLine(to_imgui(place_on(sheet, line.begin, 0)), to_imgui(place_on(sheet, line.begin, units)), faint);
      list.AddLine(to_imgui(place_on(sheet, 0, line.begin)), to_imgui(place_on(sheet, units, line.begin)), faint);
    }
  for (const MatrixLine& line : sheet.axis.lines) {
    if (!line.folded) continue;
    const ImU32 fold = to_imgui(scene.palette->grid.with_alpha(0.45f));
    const double end = line.begin + line.size;
    list.AddRectFilled(to_imgui(place_on(sheet, line.begin, 0)), to_imgui(place_on(sheet, end, units)), fold);
    list.AddRectFilled(to_imgui(place_on(sheet, 0, line.begin)), to_imgui(place_on(sheet, units, end)), fold);
  }
  list.AddRect(to_imgui(place_on(sheet, 0, 0)), to_imgui(place_on(sheet, units, units)), to_imgui(scene.palette->grid));
}

void draw_matrix_names(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet, float left) {
  const float line = line_height();
  float free = sheet.area.low.y - line / 2;
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(sheet.axis.lines.size()); ++l) {
    const MatrixLine& of = sheet.axis.lines[at(l)];
    const float y = place_on(sheet, 0, sheet.axis.middle(l)).y - line / 2;
    if (y < free || y < sheet.area.low.y - line / 2) continue;
    if (y > sheet.area.high.y - line / 2) break;
    const std::string name = of.folded ? "..." : session::vertex_name(sheet.network, vertex_at(sheet, of.first));
    const float wide = std::min(text_size(name).x, sheet.area.low.x - left - 4 * scene.scale);
    draw_text(list, {sheet.area.low.x - wide - 4 * scene.scale, y}, scene.palette->faint_text, name, wide + 1);
    free = y + line * 1.15f;
  }
}

void draw_matrix_route(ImDrawList& list, const Scene& scene, const MatrixSheet& sheet,
                       const std::vector<std::int32_t>& path, layout::Rgba colour, float width, double most) {
  const layout::MatrixRoute route =
      layout::matrix_route(*sheet.content.order, sheet.axis, *sheet.content.links, sheet.network.loads, path);
  if (route.points.empty()) return;
  const layout::Palette& p = *scene.palette;
  const float s = scene.scale;
  for (std::size_t i = 1; i < route.points.size(); ++i) {
    const auto &a = route.points[i - 1], &b = route.points[i];
    list.AddLine(to_imgui(place_on(sheet, a.first, a.second)), to_imgui(place_on(sheet, b.first, b.second)),
                 to_imgui(colour), width);
  }
  for (const layout::MatrixLink& link : route.links) {
    const MatrixLine &row = sheet.axis.lines[at(link.row)], &column = sheet.axis.lines[at(link.column)];
    Point low = place_on(sheet, column.begin, row.begin),
          high = place_on(sheet, column.begin + column.size, row.begin + row.size);
    const Point middle = (low + high) * 0.5f;
    const float least = 2.5f * s;  // to be seen
    low = {std::min(low.x, middle.x - least), std::min(low.y, middle.y - least)};
    high = {std::max(high.x, middle.x + least), std::max(high.y, middle.y + least)};
    list.AddRect(to_imgui(low), to_imgui(high), to_imgui(layout::matrix_colour(p, link.bytes, most)), 0, 0, 2 * s);
  }
  const auto end = [&](const std::pair<double, double>& point) { return place_on(sheet, point.first, point.second); };
  const float size = std::max(3 * s, std::min(6 * s, static_cast<float>(sheet.sight.scale) / 2));
  const Point from = end(route.points.front()), to = end(route.points.back());
  list.AddRectFilled({from.x - size, from.y - size}, {from.x + size, from.y + size}, to_imgui(p.successor));
  list.AddCircleFilled(to_imgui(to), size, to_imgui(p.predecessor));
}

std::string line_name(const MatrixSheet& sheet, std::int32_t line) {
  const MatrixLine& of = sheet.axis.lines[at(line)];
  const std::int32_t count = of.end - of.first;
  if (of.folded) return "folded: " + std::to_string(count) + " vertices";
  const std::string first = session::vertex_name(sheet.network, vertex_at(sheet, of.first));
  if (count == 1) return first;
  return first + " to " + session::vertex_name(sheet.network, vertex_at(sheet, of.end - 1)) + " (" +
         std::to_string(count) + " vertices)";
}

std::string cell_words(const MatrixSheet& sheet, std::int32_t row, std::int32_t column) {
  const MatrixLine &from = sheet.axis.lines[at(row)], &to = sheet.axis.lines[at(column)];
  if (row == column && from.end - from.first == 1) {
    std::string words = line_name(sheet, row);
    const auto& ranks = sheet.network.ranks_at[at(vertex_at(sheet, from.first))];
    if (ranks.empty()) return words + ": no rank";
    words += ranks.size() == 1 ? ": rank " : ": ranks ";
    for (std::size_t i = 0; i < std::min<std::size_t>(ranks.size(), 8); ++i)
      words += (i > 0 ? ", " : "") + session::rank_name(sheet.network, ranks[i]);
    return words + (ranks.size() > 8 ? ", ..." : "");
  }
  if (from.folded || to.folded) return from.folded ? line_name(sheet, row) : line_name(sheet, column);
  std::string words = row == column ? "within " + line_name(sheet, row)
                                    : "from " + line_name(sheet, row) + " to " + line_name(sheet, column);
  std::vector<layout::MatrixCell> cells;
  layout::matrix_row(sheet.content, sheet.axis, row, cells);
  const auto cell = std::find_if(cells.begin(), cells.end(), [&](const auto& c) { return c.column == column; });
  if (cell == cells.end()) return words + "\nno link";
  words += "\n" + text::format_bytes(cell->bytes) + " of the shown routes";
  if (cell->links == 1) {
    const std::int32_t link = sheet.content.links->find(vertex_at(sheet, from.first), vertex_at(sheet, to.first));
    if (link >= 0) words += ", " + text::format_bytes(sheet.network.loads[at(link)]) + " of all";
  } else {
    words += ", over " + std::to_string(cell->links) + " links";
  }
  return words;
}

std::int32_t heaviest_link(const MatrixSheet& sheet, std::int32_t row, std::int32_t column) {
  const MatrixLine& from = sheet.axis.lines[at(row)];
  if (from.folded || sheet.axis.lines[at(column)].folded) return -1;
  std::int32_t heaviest = -1;
  for (std::int32_t place = from.first; place < from.end; ++place) {
    const std::int32_t vertex = vertex_at(sheet, place);
    for (std::int32_t link = sheet.content.links->first(vertex); link < sheet.content.links->last(vertex); ++link) {
      if (sheet.axis.line_of_place[at(sheet.content.order->place[at(sheet.content.links->to(link))])] != column)
        continue;
      if (heaviest < 0 || (*sheet.content.loads)[at(link)] > (*sheet.content.loads)[at(heaviest)]) heaviest = link;
    }
  }
  return heaviest;
}

}  // namespace pclscope::gui
