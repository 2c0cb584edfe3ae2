#include "viewer/layout/matrix_picture.hpp"

#include <cmath>

#include "analysis/mapping/index.hpp"

namespace pclscope::layout {
namespace {

constexpr std::size_t most_kept = 6;
constexpr double gap_from = 6;  // pixels of a line, from which on cells have gaps between them

using mapping::at;

struct Span {
  int from = 0, to = 0;  // pixels
};

// At least one pixel, clipped to the image.
Span pixels_of(const MatrixLine& line, double edge, double scale, int size) {
  const double low = (line.begin - edge) * scale, high = (line.begin + line.size - edge) * scale;
  int from = static_cast<int>(std::floor(std::clamp(low, -1.0, size + 1.0))),
      to = static_cast<int>(std::floor(std::clamp(high, -1.0, size + 1.0)));
  if (to <= from) to = from + 1;
  if (to - from >= gap_from) --to;
  return {std::clamp(from, 0, size), std::clamp(to, 0, size)};
}

void fill(Image& image, Span x, Span y, Rgba colour) {
  for (int row = y.from; row < y.to; ++row) {
    std::uint8_t* pixel = &image.rgba[4 * (at(row) * at(image.width) + at(x.from))];
    for (int column = x.from; column < x.to; ++column, pixel += 4) {
      pixel[0] = colour.red, pixel[1] = colour.green, pixel[2] = colour.blue, pixel[3] = colour.alpha;
    }
  }
}

}  // namespace

MatrixContent matrix_content(std::shared_ptr<const mapping::LinkGraph> links,
                             std::shared_ptr<const mapping::LinkLoads> loads, const std::vector<mapping::Route>& routes,
                             const std::vector<std::uint32_t>& shown, std::shared_ptr<const MatrixOrder> order,
                             int fold_level) {
  std::vector<bool> used(order->vertex.size(), false);
  for (const std::uint32_t index : shown) {
    if (routes[index].path.size() < 2) continue;
    for (const std::int32_t vertex : routes[index].path) used[at(order->place[at(vertex)])] = true;
  }
  MatrixContent content{std::move(links), std::move(loads), std::move(order), fold_level, std::move(used), 0};
  content.units = matrix_axis(*content.order, 0, fold_level, content.used).units;
  return content;
}

void matrix_row(const MatrixContent& content, const MatrixAxis& axis, std::int32_t row, std::vector<MatrixCell>& to) {
  to.clear();
  const MatrixLine& line = axis.lines[at(row)];
  if (line.folded) return;
  for (std::int32_t place = line.first; place < line.end; ++place) {
    const std::int32_t vertex = content.order->vertex[at(place)];
    for (std::int32_t link = content.links->first(vertex); link < content.links->last(vertex); ++link) {
      const std::int32_t column = axis.line_of_place[at(content.order->place[at(content.links->to(link))])];
      if (!axis.lines[at(column)].folded) to.push_back({column, (*content.loads)[at(link)], 1});
    }
  }
  std::sort(to.begin(), to.end(), [](const MatrixCell& a, const MatrixCell& b) { return a.column < b.column; });
  std::size_t kept = 0;
  for (const MatrixCell& cell : to) {
    if (kept > 0 && to[kept - 1].column == cell.column) {
      to[kept - 1].bytes += cell.bytes;
      to[kept - 1].links += cell.links;
    } else {
      to[kept++] = cell;
    }
  }
  to.resize(kept);
}

double most_bytes(const MatrixContent& content, const MatrixAxis& axis, const std::function<bool()>& stopping) {
  double most = 0;
  std::vector<MatrixCell> cells;
  for (std::size_t row = 0; row < axis.lines.size(); ++row) {
    if (stopping && row % 64 == 0 && stopping()) break;
    matrix_row(content, axis, static_cast<std::int32_t>(row), cells);
    for (const MatrixCell& cell : cells) most = std::max(most, cell.bytes);
  }
  return most;
}

Rgba matrix_colour(const Palette& palette, double bytes, double most) {
  return palette.share(most > 0 ? std::sqrt(std::clamp(bytes / most, 0.0, 1.0)) : 0);
}

MatrixImage MatrixPainter::paint(const MatrixRequest& request, const std::function<bool()>& stopping) {
  MatrixImage made;
  made.of = request;
  const MatrixContent& content = *request.content;
  const MatrixSight& sight = request.sight;
  made.level = level_for(*content.order, sight.scale, request.least_pixels);
  if (content.fold_level >= 0) made.level = std::min(made.level, static_cast<std::size_t>(content.fold_level));
  const auto known = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.content == request.content && kept.level == made.level;
  });
  if (known == kept_.end()) {
    auto axis =
        std::make_shared<const MatrixAxis>(matrix_axis(*content.order, made.level, content.fold_level, content.used));
    const double most = most_bytes(content, *axis, stopping);
    if (stopping && stopping()) return made;
    if (kept_.size() >= most_kept) kept_.erase(kept_.begin());
    kept_.push_back({request.content, made.level, std::move(axis), most});
  } else {
    std::rotate(known, known + 1, kept_.end());
  }
  made.axis = kept_.back().axis;
  made.most = kept_.back().most;
  if (sight.width < 1 || sight.height < 1 || sight.width > 8192 || sight.height > 8192 || !(sight.scale > 0))
    return made;
  Image& image = made.image;
  image.width = sight.width;
  image.height = sight.height;
  image.rgba.assign(4 * at(image.width) * at(image.height), 0);
  const MatrixAxis& axis = *made.axis;
  std::vector<Span> columns;
  for (const MatrixLine& line : axis.lines) columns.push_back(pixels_of(line, sight.x, sight.scale, image.width));
  std::vector<MatrixCell> cells;
  const Rgba adjacent = request.palette->edge;
  // The heavier cells last: where several lie on a pixel, the heaviest is seen.
  struct Loaded {
    double bytes;
    Span x, y;
    std::int32_t row, column;
  };
  std::vector<Loaded> loaded;
  for (std::size_t row = 0; row < axis.lines.size(); ++row) {
    if (stopping && row % 64 == 0 && stopping())
      return MatrixImage{request, made.level, made.axis, {}, 0, 0, 0, -1, -1};
    const Span y = pixels_of(axis.lines[row], sight.y, sight.scale, image.height);
    if (y.from >= y.to) continue;
    matrix_row(content, axis, static_cast<std::int32_t>(row), cells);
    for (const MatrixCell& cell : cells) {
      const Span x = columns[at(cell.column)];
      if (x.from >= x.to) continue;
      ++made.cells;
      if (cell.bytes > 0) loaded.push_back({cell.bytes, x, y, static_cast<std::int32_t>(row), cell.column});
      else fill(image, x, y, adjacent);
    }
  }
  std::sort(loaded.begin(), loaded.end(), [](const Loaded& a, const Loaded& b) { return a.bytes < b.bytes; });
  for (const Loaded& cell : loaded) fill(image, cell.x, cell.y, matrix_colour(*request.palette, cell.bytes, made.most));
  made.loaded = loaded.size();
  if (!loaded.empty()) made.heaviest_row = loaded.back().row, made.heaviest_column = loaded.back().column;
  return made;
}

MatrixRoute matrix_route(const MatrixOrder& order, const MatrixAxis& axis, const mapping::LinkGraph& links,
                         const mapping::LinkLoads& loads, const std::vector<std::int32_t>& path) {
  MatrixRoute drawn;
  const auto line_of = [&](std::int32_t vertex) { return axis.line_of_place[at(order.place[at(vertex)])]; };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::int32_t line = line_of(path[i]);
    const double middle = axis.middle(line);
    if (i == 0) {
      drawn.points.emplace_back(middle, middle);
      continue;
    }
    const std::int32_t row = line_of(path[i - 1]), link = links.find(path[i - 1], path[i]);
    if (row == line) continue;
    drawn.points.emplace_back(middle, axis.middle(row));
    drawn.points.emplace_back(middle, middle);
    drawn.links.push_back({row, line, link >= 0 ? loads[at(link)] : 0});
  }
  return drawn;
}

}  // namespace pclscope::layout
