#include "viewer/layout/dag_layout.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/viewer/fake_run.hpp"
#include "tests/viewer/layout/dag_random.hpp"
#include "viewer/layout/dag_routes.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

DagLayout laid_out(const Dag& dag, float aspect = 1.6f) {
  return lay_out_dag(dag, row_order(dag, layers_of(dag)), aspect);
}

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

// Of straight links between the same two layers, by comparing all pairs.
int crossings(const Dag& dag, const std::vector<std::int32_t>& layer, const std::vector<double>& height) {
  int count = 0;
  for (const DagEdge& a : dag.edges)
    for (const DagEdge& b : dag.edges)
      if (layer[index(a.from)] == layer[index(b.from)] && layer[index(a.to)] == layer[index(b.to)])
        count += height[index(a.from)] < height[index(b.from)] && height[index(a.to)] > height[index(b.to)];
  return count;
}

}  // namespace

TEST_CASE("layers are those of the analysis, whatever a graph says of itself") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    Dag dag = test::random_dag(random, 40, 70, 6);
    const auto layer = layers_of(dag);
    for (std::size_t i = 0; i < dag.nodes.size(); ++i) CHECK(layer[i] == dag.nodes[i].layer);
    for (DagNode& node : dag.nodes) node.layer = -7;
    CHECK(layers_of(dag) == layer);
  }
}

TEST_CASE("links go from left to right, glyphs do not overlap, all is inside the bounds") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Dag dag = test::random_dag(random, 60, 90, 9);
    const DagLayout layout = laid_out(dag, 0.3f * static_cast<float>(seed));
    REQUIRE(layout.at.size() == dag.nodes.size());
    for (const DagEdge& edge : dag.edges)
      CHECK(layout.at[index(edge.to)].x - layout.at[index(edge.from)].x >= least_column - 1e-3f);
    for (std::size_t a = 0; a < layout.at.size(); ++a) {
      CHECK(layout.bounds.holds(layout.at[a]));
      for (std::size_t b = 0; b < a; ++b) CHECK(distance(layout.at[a], layout.at[b]) >= least_row - 1e-2f);
    }
  }
}

TEST_CASE("the same graph gets the same layout") {
  std::mt19937_64 random(3);
  const Dag dag = test::random_dag(random, 80, 120, 9);
  CHECK(laid_out(dag).at == laid_out(dag).at);
  CHECK(row_order(dag, layers_of(dag)) == row_order(dag, layers_of(dag)));
}

TEST_CASE("links cross less than in random orders") {
  double ours = 0, by_chance = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 random(seed);
    const Dag dag = test::random_dag(random, 50, 70, 12);
    const auto layer = layers_of(dag);
    ours += crossings(dag, layer, row_order(dag, layer));
    for (int shuffle = 0; shuffle < 10; ++shuffle) {
      std::vector<double> order(dag.nodes.size());
      std::iota(order.begin(), order.end(), 0.0);
      std::shuffle(order.begin(), order.end(), random);
      by_chance += crossings(dag, layer, order) / 10.0;
    }
  }
  INFO(ours << " crossings, by chance " << by_chance);
  CHECK(ours < 0.6 * by_chance);
}

TEST_CASE("chains that need not cross, do not") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    std::mt19937_64 random(seed);
    Dag dag;  // each node of a layer sends to one of the next; ranks in any order
    std::vector<std::int32_t> rank(40), next(8);
    std::iota(rank.begin(), rank.end(), 0);
    std::iota(next.begin(), next.end(), 0);
    std::shuffle(rank.begin(), rank.end(), random);
    for (std::int32_t i = 0; i < 40; ++i) dag.nodes.push_back({rank[index(i)], 0, 0, 0, {}, {}});
    for (std::int32_t layer = 0; layer < 4; ++layer) {
      std::shuffle(next.begin(), next.end(), random);
      for (std::int32_t i = 0; i < 8; ++i)
        dag.edges.push_back({layer * 8 + i, layer * 8 + 8 + next[index(i)], 1, 8, 1});
    }
    const auto layer = layers_of(dag);
    std::vector<double> by_rank(rank.begin(), rank.end());
    CHECK(crossings(dag, layer, by_rank) > 0);
    CHECK(crossings(dag, layer, row_order(dag, layer)) == 0);
  }
}

TEST_CASE("rows follow the order that is given, and nodes of a rank without crossings lie level") {
  Dag dag;
  for (std::int32_t round = 0; round < 5; ++round)
    for (std::int32_t rank = 0; rank < 4; ++rank) dag.nodes.push_back({rank, round, 0, 0, {}, {}});
  for (std::int32_t i = 0; i + 4 < 20; ++i) dag.edges.push_back({i, i + 4, 1, 8, 1});
  const DagLayout layout = laid_out(dag);
  for (std::size_t i = 4; i < 20; ++i) CHECK(layout.at[i].y == Approx(layout.at[i - 4].y));
  std::vector<double> reversed;
  for (const DagNode& node : dag.nodes) reversed.push_back(-node.rank);
  const DagLayout other = lay_out_dag(dag, reversed, 1);
  CHECK(other.at[0].y > other.at[1].y);
  CHECK(other.at[18].y > other.at[19].y);
}

TEST_CASE("routes keep their end points, run to the right, and pass no glyph of a layer in between") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Dag dag = test::random_dag(random, 60, 90, 9);
    const DagLayout layout = laid_out(dag);
    const auto routes = route_edges(dag, layout);
    REQUIRE(routes.size() == dag.edges.size());
    std::vector<Point> points;
    for (const DagRoute& route : routes) {
      const DagEdge& edge = dag.edges[index(route.edge)];
      CHECK(route.knots.front() == layout.at[index(edge.from)] + Point{port, 0});
      CHECK(distance(route.knots.back(), layout.at[index(edge.to)] - Point{port, 0}) < 1e-3f);
      for (std::size_t i = 1; i < route.knots.size(); ++i) CHECK(route.knots[i].x > route.knots[i - 1].x);
      for (const Point knot : route.knots)
        for (const Point glyph : layout.at) CHECK(distance(knot, glyph) > 1.3f);
      sample_route(route.knots, 10, points);
      CHECK(points.front() == route.knots.front());
      CHECK(distance(points.back(), route.knots.back()) < 1e-3f);
      const auto [low, high] =
          std::minmax_element(route.knots.begin(), route.knots.end(), [](Point a, Point b) { return a.y < b.y; });
      for (const Point p : points) CHECK((p.y >= low->y - 1e-2f && p.y <= high->y + 1e-2f));
    }
  }
}

TEST_CASE("links that run alike share their middle") {
  Dag dag;  // four nodes each send to all of four others
  for (std::int32_t i = 0; i < 8; ++i) dag.nodes.push_back({i, i / 4, 0, 0, {}, {}});
  for (std::int32_t a = 0; a < 4; ++a)
    for (std::int32_t b = 4; b < 8; ++b) dag.edges.push_back({a, b, 1, 8, 1});
  const auto spread = [](const std::vector<float>& heights) {
    return *std::max_element(heights.begin(), heights.end()) - *std::min_element(heights.begin(), heights.end());
  };
  const DagLayout layout = laid_out(dag);
  std::vector<float> bundled, straight;
  for (const DagRoute& route : route_edges(dag, layout)) {
    const Point a = route.knots.front(), b = route.knots.back();
    straight.push_back((a.y + b.y) / 2);
    if (route.knots.size() == 3) bundled.push_back(route.knots[1].y);
  }
  REQUIRE(bundled.size() >= 12);
  CHECK(spread(bundled) < spread(straight));
}

TEST_CASE("layouts of broken graphs are finite, and a graph of one node has a place") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Dag dag = test::broken_dag(random);
    for (const float aspect : {1.f, 0.f, -3.f, std::numeric_limits<float>::quiet_NaN()}) {
      const DagLayout layout = laid_out(dag, aspect);
      REQUIRE(layout.at.size() == dag.nodes.size());
      for (const Point p : layout.at) CHECK((std::isfinite(p.x) && std::isfinite(p.y)));
      for (const DagRoute& route : route_edges(dag, layout))
        for (const Point p : route.knots) CHECK((std::isfinite(p.x) && std::isfinite(p.y)));
    }
  }
  Dag one;
  one.nodes.push_back({});
  CHECK(laid_out(one).bounds.width() > 0);
}
