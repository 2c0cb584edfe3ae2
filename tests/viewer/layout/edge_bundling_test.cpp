#include "viewer/layout/edge_bundling.hpp"

#include <catch2/catch.hpp>
#include <limits>
#include <random>

using namespace pclscope::layout;

namespace {

std::vector<StraightEdge> random_edges(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<float> place(-100, 100);
  std::vector<StraightEdge> made(count);
  for (StraightEdge& e : made) {
    for (float* value : {&e.from.x, &e.from.y, &e.to.x, &e.to.y}) *value = place(random);
  }
  return made;
}

float length_of(const std::vector<Point>& line) {
  float sum = 0;
  for (std::size_t i = 1; i < line.size(); ++i) sum += distance(line[i - 1], line[i]);
  return sum;
}

}  // namespace

TEST_CASE("compatibility: one with itself, none at right angles, by the paper's four measures in between") {
  const StraightEdge e{{0, 0}, {10, 0}};
  CHECK(edge_compatibility(e, e) == Approx(1));
  CHECK(edge_compatibility(e, {{10, 0}, {0, 0}}) == Approx(1));
  CHECK(edge_compatibility(e, {{5, -5}, {5, 5}}) == Approx(0).margin(1e-6));
  // Parallel, of equal length, 5 apart: angle 1, scale 2/(1+1) = 1, position 10/(10+5), visibility 1.
  CHECK(edge_compatibility(e, {{0, 5}, {10, 5}}) == Approx(2.0 / 3));
  // Half as long about the same middle: mean 7.5, scale 2/(7.5/5 + 10/7.5), all else 1.
  CHECK(edge_compatibility(e, {{2.5f, 0}, {7.5f, 0}}) == Approx(2 / (1.5 + 10 / 7.5)));
  // Shifted by its length: position 10/20, visibility max(0, 1 - 2*10/10) = 0.
  CHECK(edge_compatibility(e, {{10, 0}, {20, 0}}) == Approx(0).margin(1e-9));
}

TEST_CASE("compatibility is symmetric and in [0, 1]") {
  const auto edges = random_edges(60, 2);
  for (const StraightEdge& p : edges) {
    for (const StraightEdge& q : edges) {
      const double c = edge_compatibility(p, q);
      CHECK(c >= 0);
      CHECK(c <= 1);
      CHECK(c == Approx(edge_compatibility(q, p)).margin(1e-9));
    }
  }
}

TEST_CASE("ends are kept to the bit, lines are finite, two runs are equal") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const auto edges = random_edges(150, seed);
    const auto lines = bundle_edges(edges);
    REQUIRE(lines.size() == edges.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CHECK(lines[i].front() == edges[i].from);
      CHECK(lines[i].back() == edges[i].to);
      for (const Point p : lines[i]) CHECK((std::isfinite(p.x) && std::isfinite(p.y)));
      CHECK(length_of(lines[i]) < 2 * distance(edges[i].from, edges[i].to) + 1);
    }
    CHECK(lines == bundle_edges(edges));
  }
}

TEST_CASE("parallel neighbours come together in the middle; a lone edge stays straight") {
  const std::vector<StraightEdge> edges{
      {{0, 0}, {100, 0}}, {{0, 10}, {100, 10}}, {{100, 20}, {0, 20}}, {{500, 0}, {500, 50}}};
  const auto lines = bundle_edges(edges);
  const auto middle = [&](std::size_t i) { return lines[i][lines[i].size() / 2]; };
  CHECK(distance(middle(0), middle(1)) < 6);
  CHECK(distance(middle(0), middle(2)) < 12);
  CHECK(lines[3].size() == 2);
  CHECK(lines[0].size() == 33);
}

TEST_CASE("edges beyond the limit come out straight") {
  BundlingOptions options;
  options.most_edges = 2;
  const std::vector<StraightEdge> edges{{{0, 0}, {100, 0}}, {{0, 5}, {100, 5}}, {{0, 10}, {100, 10}}};
  const auto lines = bundle_edges(edges, options);
  CHECK(lines[0].size() > 2);
  CHECK(lines[2] == std::vector<Point>{{0, 10}, {100, 10}});
}

TEST_CASE("broken edges: no crash, ends as given, the others as without them") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<StraightEdge> good{{{0, 0}, {100, 0}}, {{0, 10}, {100, 10}}};
  std::vector<StraightEdge> mixed = good;
  for (const float bad : {nan, inf, -inf, 1e30f}) mixed.push_back({{bad, 0}, {1, 1}});
  mixed.push_back({{5, 5}, {5, 5}});
  const auto lines = bundle_edges(mixed), alone = bundle_edges(good);
  CHECK(lines[0] == alone[0]);
  CHECK(lines[1] == alone[1]);
  for (std::size_t i = 2; i < mixed.size(); ++i) CHECK(lines[i].size() == 2);
  CHECK(bundle_edges({}).empty());
  CHECK(bundle_edges(good, {}, [] { return true; }).size() == 2);
}
