#include "viewer/layout/matrix_order.hpp"

#include <algorithm>
#include <numeric>

#include "analysis/mapping/index.hpp"

namespace pclscope::layout {
namespace {

constexpr double folded_share = 0.02;  // of what is not folded, for each folded run

using mapping::at;

// 0: vertices have none, or not all the same number of them.
std::size_t dimensions(const mapping::RouteSet& set) {
  const std::size_t count = set.coordinates.empty() ? 0 : set.coordinates.front().size();
  for (const auto& coordinates : set.coordinates)
    if (coordinates.size() != count) return 0;
  return count;
}

// Where `differ(a, b)` of two places that follow each other.
template <class Differ>
void add_level(MatrixOrder& order, std::string name, const Differ& differ) {
  std::vector<std::int32_t> starts;
  for (const std::int32_t start : order.blocks.back())
    if (start == 0 || differ(order.vertex[at(start - 1)], order.vertex[at(start)], start)) starts.push_back(start);
  if (starts.size() == order.blocks.back().size()) return;
  order.blocks.push_back(std::move(starts));
  order.names.push_back(std::move(name));
}

std::string letter(std::size_t dimension) { return std::string(1, static_cast<char>('A' + dimension % 26)); }

void merge_by_coordinates(MatrixOrder& order, const mapping::RouteSet& set, std::size_t dimensions) {
  std::string behind;  // the dimensions that are merged already
  for (std::size_t d = dimensions; d-- > 0;) {
    const auto coordinate = [&](std::int32_t vertex) { return set.coordinates[at(vertex)][d]; };
    std::int32_t least = INT32_MAX, most = INT32_MIN;
    for (const std::int32_t vertex : order.vertex) {
      least = std::min(least, coordinate(vertex));
      most = std::max(most, coordinate(vertex));
    }
    const auto before = [&](std::int32_t a, std::int32_t b) {
      return !std::equal(set.coordinates[at(a)].begin(),
                         set.coordinates[at(a)].begin() + static_cast<std::ptrdiff_t>(d),
                         set.coordinates[at(b)].begin());
    };
    const std::int64_t extent = std::int64_t{most} - least + 1;
    for (std::int64_t part = 2; part < extent; part *= 2)
      add_level(order, letter(d) + ":" + std::to_string(part) + behind, [&](std::int32_t a, std::int32_t b, auto) {
        return before(a, b) ||
               (std::int64_t{coordinate(a)} - least) / part != (std::int64_t{coordinate(b)} - least) / part;
      });
    std::string merged = " ";
    merged.append(letter(d)).append(behind);
    behind = std::move(merged);
    add_level(order, behind.substr(1), [&](std::int32_t a, std::int32_t b, auto) { return before(a, b); });
  }
}

void merge_by_place(MatrixOrder& order) {
  for (std::int64_t part = 2; part < 2 * std::int64_t{order.places()}; part *= 2)
    add_level(order, std::to_string(std::min<std::int64_t>(part, order.places())) + " vertices",
              [&](std::int32_t, std::int32_t, std::int32_t start) { return start % part == 0; });
}

}  // namespace

MatrixOrder matrix_order(const mapping::RouteSet& set, MatrixOrderBy by) {
  MatrixOrder order;
  order.vertex.resize(at(set.vertices));
  std::iota(order.vertex.begin(), order.vertex.end(), 0);
  const std::size_t count = by == MatrixOrderBy::coordinates ? dimensions(set) : 0;
  if (count > 0)
    std::stable_sort(order.vertex.begin(), order.vertex.end(),
                     [&](std::int32_t a, std::int32_t b) { return set.coordinates[at(a)] < set.coordinates[at(b)]; });
  else if (by == MatrixOrderBy::number && set.number.size() == order.vertex.size())
    std::stable_sort(order.vertex.begin(), order.vertex.end(),
                     [&](std::int32_t a, std::int32_t b) { return set.number[at(a)] < set.number[at(b)]; });
  order.place.resize(order.vertex.size());
  for (std::int32_t place = 0; place < order.places(); ++place) order.place[at(order.vertex[at(place)])] = place;
  order.blocks.emplace_back(order.vertex.size());
  std::iota(order.blocks[0].begin(), order.blocks[0].end(), 0);
  order.names.emplace_back("1 vertex");
  if (count > 1) merge_by_coordinates(order, set, count);
  else merge_by_place(order);
  return order;
}

std::int32_t MatrixAxis::line_at(double unit) const {
  if (!(unit >= 0) || unit >= units) return -1;
  const auto after = std::upper_bound(lines.begin(), lines.end(), unit,
                                      [](double u, const MatrixLine& line) { return u < line.begin; });
  return static_cast<std::int32_t>(after - lines.begin()) - 1;
}

namespace {

// Of each block of `starts`: whether it holds a used place.
std::vector<bool> used_blocks(const std::vector<std::int32_t>& starts, const std::vector<bool>& used) {
  std::vector<bool> found(starts.size(), false);
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const std::size_t end = b + 1 < starts.size() ? at(starts[b + 1]) : used.size();
    for (std::size_t place = at(starts[b]); place < end && !found[b]; ++place) found[b] = used[place];
  }
  return found;
}

}  // namespace

MatrixAxis matrix_axis(const MatrixOrder& order, std::size_t level, int fold_level, const std::vector<bool>& used) {
  MatrixAxis axis;
  if (order.places() == 0) return axis;
  level = std::min(level, order.blocks.size() - 1);
  if (fold_level >= 0) level = std::min(level, static_cast<std::size_t>(fold_level));
  const std::vector<std::int32_t>& starts = order.blocks[level];
  std::vector<bool> folded(used.size(), false);  // of each place
  std::int32_t open = order.places();
  if (fold_level >= 0) {
    const auto& folds = order.blocks[std::min(static_cast<std::size_t>(fold_level), order.blocks.size() - 1)];
    const std::vector<bool> shown = used_blocks(folds, used);
    for (std::size_t b = 0; b < folds.size(); ++b) {
      const std::int32_t end = b + 1 < folds.size() ? folds[b + 1] : order.places();
      if (shown[b]) continue;
      std::fill(folded.begin() + folds[b], folded.begin() + end, true);
      open -= end - folds[b];
    }
    if (open == 0) {  // nothing is shown: there is nothing to make room for
      std::fill(folded.begin(), folded.end(), false);
      open = order.places();
    }
  }
  axis.line_of_place.resize(at(order.places()));
  for (std::size_t b = 0; b < starts.size(); ++b) {
    const std::int32_t first = starts[b], end = b + 1 < starts.size() ? starts[b + 1] : order.places();
    const bool fold = fold_level >= 0 && folded[at(first)];
    if (fold && !axis.lines.empty() && axis.lines.back().folded) axis.lines.back().end = end;
    else axis.lines.push_back({first, end, fold, 0, 0});
  }
  for (std::size_t l = 0; l < axis.lines.size(); ++l) {
    MatrixLine& line = axis.lines[l];
    line.begin = axis.units;
    line.size = line.end - line.first;
    if (line.folded) line.size = std::min(line.size, std::max(0.5, open * folded_share));
    axis.units += line.size;
    std::fill(axis.line_of_place.begin() + line.first, axis.line_of_place.begin() + line.end,
              static_cast<std::int32_t>(l));
  }
  return axis;
}

std::size_t level_for(const MatrixOrder& order, double pixels_per_unit, double least) {
  for (std::size_t level = 0; level < order.blocks.size(); ++level) {
    const double size = static_cast<double>(order.places()) / static_cast<double>(order.blocks[level].size());
    if (size * pixels_per_unit >= least) return level;
  }
  return order.blocks.size() - 1;
}

}  // namespace pclscope::layout
