#include "viewer/layout/dag_routes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace pclscope::layout {
namespace {

constexpr int most_lanes = 24;      // an edge over more layers keeps to the lanes of some of them only
constexpr float lane_clear = 1.6f;  // from a glyph's middle
constexpr float together = 0.75f;   // 1: a bundle's edges meet in one point
constexpr std::size_t least_bundle = 3;
constexpr float pixels_per_step = 9;

// The free height in a layer nearest to `wish`: between two glyphs, above the first or below the last.
float lane(const DagLayout& layout, const std::vector<std::int32_t>& row, float wish) {
  const auto height = [&](std::int32_t node) { return layout.at[static_cast<std::size_t>(node)].y; };
  const auto below =
      std::lower_bound(row.begin(), row.end(), wish, [&](std::int32_t node, float y) { return height(node) < y; });
  if (row.empty()) return wish;
  if (below == row.begin()) return std::min(wish, height(*below) - lane_clear);
  if (below == row.end()) return std::max(wish, height(row.back()) + lane_clear);
  return std::clamp(wish, height(*(below - 1)) + lane_clear,
                    std::max(height(*(below - 1)) + lane_clear, height(*below) - lane_clear));
}

std::vector<Point> lanes(const DagLayout& layout, const DagEdge& edge) {
  const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
  const Point begin = layout.at[from] + Point{port, 0}, end = layout.at[to] - Point{port, 0};
  std::vector<Point> knots = {begin};
  const std::int32_t first = layout.layer[from], last = layout.layer[to];
  const std::int32_t step = std::max(1, (last - first) / most_lanes);
  for (std::int32_t layer = first + step; layer < last; layer += step) {
    const float x = static_cast<float>(layer) * layout.column;
    const Point at = knots.back();
    const float straight = at.y + (end.y - at.y) * (x - at.x) / (end.x - at.x);
    knots.push_back({x, lane(layout, layout.rows[static_cast<std::size_t>(layer)], straight)});
  }
  knots.push_back(end);
  return knots;
}

// Pieces between two knots that run alike: same gap, beginning and end in the same blocks of rows.
using Bundle = std::array<std::int32_t, 4>;

Bundle bundle_of(const DagLayout& layout, float block, Point a, Point b) {
  const auto whole = [](float v) { return static_cast<std::int32_t>(std::clamp(std::floor(v), -1e9f, 1e9f)); };
  return {whole(a.x / layout.column), whole(b.x / layout.column + 0.9f), whole(a.y / block), whole(b.y / block)};
}

void bundle(std::vector<DagRoute>& routes, const DagLayout& layout) {
  struct Sum {
    double height = 0;
    std::size_t count = 0;
  };
  const float block = std::max(2 * least_row, layout.bounds.height() / 16);
  std::map<Bundle, Sum> bundles;
  const auto every = [&](const DagRoute& route, auto&& do_this) {
    for (std::size_t i = 0; i + 1 < route.knots.size(); ++i) {
      const Point a = route.knots[i], b = route.knots[i + 1];
      do_this(bundles[bundle_of(layout, block, a, b)], (a + b) * 0.5f, b);
    }
  };
  for (const DagRoute& route : routes)
    every(route, [](Sum& sum, Point middle, Point) { sum.height += static_cast<double>(middle.y), ++sum.count; });
  for (DagRoute& route : routes) {
    std::vector<Point> knots = {route.knots.front()};
    every(route, [&](const Sum& sum, Point middle, Point b) {
      if (sum.count >= least_bundle) {
        const auto shared = static_cast<float>(sum.height / static_cast<double>(sum.count));
        knots.push_back({middle.x, middle.y + (shared - middle.y) * together});
      }
      knots.push_back(b);
    });
    route.knots = std::move(knots);
  }
}

// Slopes for a monotone cubic: the harmonic mean of both sides' (Fritsch and Butland), flat at the ends and at turns.
float slope(const std::vector<Point>& knots, std::size_t i) {
  if (i == 0 || i + 1 == knots.size()) return 0;
  const auto secant = [&](std::size_t k) {
    return (knots[k + 1].y - knots[k].y) / std::max(knots[k + 1].x - knots[k].x, 1e-6f);
  };
  const float before = secant(i - 1), after = secant(i);
  return before * after > 0 ? 2 * before * after / (before + after) : 0;
}

}  // namespace

std::vector<DagRoute> route_edges(const Dag& dag, const DagLayout& layout) {
  std::vector<DagRoute> routes;
  for (std::size_t i = 0; i < dag.edges.size(); ++i)
    if (can_be(dag.edges[i], layout.at.size()))
      routes.push_back({static_cast<std::int32_t>(i), lanes(layout, dag.edges[i])});
  bundle(routes, layout);
  return routes;
}

void sample_route(const std::vector<Point>& knots, float zoom, std::vector<Point>& points) {
  points.clear();
  if (knots.size() < 2) return;
  points.push_back(knots.front());
  for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
    const Point a = knots[i], b = knots[i + 1];
    const float width = b.x - a.x, from = slope(knots, i) * width, to = slope(knots, i + 1) * width;
    const int steps = a.y == b.y ? 1 : std::clamp(static_cast<int>(distance(a, b) * zoom / pixels_per_step), 2, 24);
    for (int k = 1; k <= steps; ++k) {
      const float t = static_cast<float>(k) / static_cast<float>(steps), t2 = t * t, t3 = t2 * t;
      const float y = (2 * t3 - 3 * t2 + 1) * a.y + (t3 - 2 * t2 + t) * from + (3 * t2 - 2 * t3) * b.y + (t3 - t2) * to;
      points.push_back({a.x + width * t, y});
    }
  }
}

}  // namespace pclscope::layout
