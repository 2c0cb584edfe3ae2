// Places by distances (network_shape.hpp).
#include <algorithm>
#include <cmath>
#include <queue>

#include "viewer/layout/network_shape.hpp"

namespace pclscope::layout {
namespace {

using mapping::LinkGraph;

constexpr std::size_t most_pivots = 24;
constexpr int power_steps = 60;

std::vector<std::int32_t> breadth_first(const LinkGraph& graph, std::int32_t from) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(graph.vertices()), -1), queue{from};
  hops[static_cast<std::size_t>(from)] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const std::int32_t v = queue[i];
    for (std::int32_t link = graph.first(v); link < graph.last(v); ++link) {
      std::int32_t& there = hops[static_cast<std::size_t>(graph.to(link))];
      if (there >= 0) continue;
      there = hops[static_cast<std::size_t>(v)] + 1;
      queue.push_back(graph.to(link));
    }
  }
  return hops;
}

// The direction of the largest variance of the rows, orthogonal to `before` if given; by power iteration from a fixed
// start.
std::vector<double> principal_axis(const std::vector<std::vector<double>>& columns, const std::vector<double>* before) {
  const std::size_t k = columns.size(), n = columns[0].size();
  std::vector<std::vector<double>> covariance(k, std::vector<double>(k));
  for (std::size_t a = 0; a < k; ++a)
    for (std::size_t b = a; b < k; ++b) {
      double sum = 0;
      for (std::size_t i = 0; i < n; ++i) sum += columns[a][i] * columns[b][i];
      covariance[a][b] = covariance[b][a] = sum;
    }
  std::vector<double> axis(k);
  for (std::size_t a = 0; a < k; ++a) axis[a] = 1.0 + 0.37 * static_cast<double>((a * 7) % 11);
  for (int step = 0; step < power_steps; ++step) {
    if (before != nullptr) {
      double along = 0;
      for (std::size_t a = 0; a < k; ++a) along += axis[a] * (*before)[a];
      for (std::size_t a = 0; a < k; ++a) axis[a] -= along * (*before)[a];
    }
    std::vector<double> next(k, 0);
    for (std::size_t a = 0; a < k; ++a)
      for (std::size_t b = 0; b < k; ++b) next[a] += covariance[a][b] * axis[b];
    double length = 0;
    for (const double x : next) length += x * x;
    if (!(length > 0)) break;
    for (std::size_t a = 0; a < k; ++a) axis[a] = next[a] / std::sqrt(length);
  }
  return axis;
}

// One part: its vertices, found by a search from `first`.
void place_part(const LinkGraph& graph, const std::vector<std::int32_t>& part, VertexPlaces& places) {
  std::vector<std::vector<double>> columns;
  std::vector<std::int32_t> nearest(part.size(), INT32_MAX);
  std::size_t pivot = 0;
  const std::size_t pivots = std::min(most_pivots, part.size());
  for (std::size_t p = 0; p < pivots; ++p) {
    const auto hops = breadth_first(graph, part[pivot]);
    std::vector<double> column(part.size());
    double mean = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      column[i] = hops[static_cast<std::size_t>(part[i])];
      nearest[i] = std::min(nearest[i], hops[static_cast<std::size_t>(part[i])]);
      mean += column[i] / static_cast<double>(part.size());
    }
    for (double& x : column) x -= mean;
    columns.push_back(std::move(column));
    pivot = static_cast<std::size_t>(std::max_element(nearest.begin(), nearest.end()) - nearest.begin());
  }
  const std::vector<double> first = principal_axis(columns, nullptr), second = principal_axis(columns, &first);
  for (std::size_t i = 0; i < part.size(); ++i) {
    double x = 0, y = 0;
    for (std::size_t p = 0; p < columns.size(); ++p) x += columns[p][i] * first[p], y += columns[p][i] * second[p];
    places.at[static_cast<std::size_t>(part[i])] = {static_cast<float>(x), static_cast<float>(y)};
  }
  // Vertices that are equally far from everything lie on each other: a small turn around their place parts them.
  for (std::size_t i = 0; i < part.size(); ++i) {
    const double angle = 2.399963 * static_cast<double>(i);  // golden: no two alike
    Point& at = places.at[static_cast<std::size_t>(part[i])];
    const float aside = 0.35f * std::sqrt(static_cast<float>(columns.size()));
    at = at + Point{static_cast<float>(std::cos(angle)) * aside, static_cast<float>(std::sin(angle)) * aside};
  }
}

}  // namespace

VertexPlaces place_by_distances(const LinkGraph& graph) {
  VertexPlaces places;
  places.at.resize(static_cast<std::size_t>(graph.vertices()));
  std::vector<bool> seen(places.at.size(), false);
  std::vector<std::vector<std::int32_t>> parts;
  std::vector<std::int32_t> alone;
  for (std::int32_t v = 0; v < graph.vertices(); ++v) {
    if (seen[static_cast<std::size_t>(v)]) continue;
    if (graph.first(v) == graph.last(v)) {
      alone.push_back(v);
      continue;
    }
    std::vector<std::int32_t> part{v};
    seen[static_cast<std::size_t>(v)] = true;
    for (std::size_t i = 0; i < part.size(); ++i)
      for (std::int32_t link = graph.first(part[i]); link < graph.last(part[i]); ++link) {
        const auto to = static_cast<std::size_t>(graph.to(link));
        if (seen[to]) continue;
        seen[to] = true;
        part.push_back(graph.to(link));
      }
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  // Parts in rows, as wide in all as high; below them those without a link.
  Point at;
  float row = 0, widest = 0;
  for (const auto& part : parts) {
    place_part(graph, part, places);
    VertexPlaces own;
    Point low{1e30f, 1e30f}, high{-1e30f, -1e30f};
    for (const std::int32_t v : part) {
      const Point p = places.at[static_cast<std::size_t>(v)];
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    const float unit = std::max(1e-6f, std::max(high.x - low.x, high.y - low.y));
    const float side = std::max(1.f, std::sqrt(static_cast<float>(part.size())));
    if (at.x > 0 && at.x + side > std::max(widest, 1.5f * std::sqrt(static_cast<float>(graph.vertices()))))
      at = {0, at.y + row + 1}, row = 0;
    for (const std::int32_t v : part) {
      Point& p = places.at[static_cast<std::size_t>(v)];
      p = at + (p - low) * (side / unit);
    }
    at.x += side + 1;
    widest = std::max(widest, at.x);
    row = std::max(row, side);
  }
  const auto columns =
      static_cast<std::int32_t>(std::max(widest, std::ceil(std::sqrt(static_cast<float>(alone.size() + 1)) * 1.5f)));
  for (std::size_t i = 0; i < alone.size(); ++i) {
    const std::int32_t column = static_cast<std::int32_t>(i) % columns, line = static_cast<std::int32_t>(i) / columns;
    places.at[static_cast<std::size_t>(alone[i])] = {static_cast<float>(column),
                                                     at.y + row + 1 + static_cast<float>(line)};
  }
  return places;
}

}  // namespace pclscope::layout
