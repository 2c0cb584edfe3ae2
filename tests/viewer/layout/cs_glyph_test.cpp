#include "viewer/layout/cs_glyph.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/viewer/layout/dag_random.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

constexpr double turn = 2 * std::numbers::pi;

DagMessage message(double time_s, std::uint64_t bytes, double ratio = 1) { return {-1, 0, 0, bytes, 0, time_s, ratio}; }

float arc(const GlyphBar& bar) { return bar.to - bar.from; }
float height(const GlyphBar& bar) { return bar.outer - bar.inner; }

}  // namespace

TEST_CASE("the ellipse is a circle for a balanced load and the flatter the larger LB is") {
  CHECK(roundness(0) == 1.f);
  float last = 1;
  for (const double balance : {0.1, 0.5, 1.0, 2.0, 5.0, 50.0, 1000.0}) {
    CHECK(roundness(balance) < last);
    last = roundness(balance);
    CHECK(last > flattest);
  }
  const CsGlyph glyph = cs_glyph({}, 2, {});
  CHECK(glyph.half_width == ellipse_half_width);
  CHECK(glyph.half_height == Approx(ellipse_half_width * roundness(2)));
  for (const double odd : {-1.0, std::numeric_limits<double>::quiet_NaN()}) CHECK(roundness(odd) == 1.f);
  CHECK(roundness(std::numeric_limits<double>::infinity()) >= flattest);
}

TEST_CASE("one bar for each message: received inside the ring, sent outside, none in the ellipse") {
  std::mt19937_64 random(7);
  for (int run = 0; run < 20; ++run) {
    DagNode node;
    for (std::size_t i = random() % 12; i > 0; --i)
      node.received.push_back(message(1e-6 * static_cast<double>(random() % 50), random() % 100000));
    for (std::size_t i = random() % 12; i > 0; --i)
      node.sent.push_back(message(1e-6 * static_cast<double>(random() % 50), random() % 100000));
    const CsGlyph glyph = cs_glyph(node, 1, {1e-4, 100000});
    REQUIRE(glyph.bars.size() == node.received.size() + node.sent.size());
    for (std::size_t i = 0; i < glyph.bars.size(); ++i) {
      const GlyphBar& bar = glyph.bars[i];
      CHECK(bar.sent == (i >= node.received.size()));
      CHECK(bar.count == 1);
      CHECK(bar.first == (bar.sent ? i - node.received.size() : i));
      CHECK(bar.inner < bar.outer);
      if (bar.sent) CHECK(bar.inner > 1);
      if (!bar.sent) CHECK(bar.outer < 1);
      if (!bar.sent) CHECK(bar.inner > ellipse_half_width);
      if (i > 0 && glyph.bars[i - 1].sent == bar.sent) CHECK(bar.from > glyph.bars[i - 1].to);
    }
  }
}

TEST_CASE("length is proportional to the transmission time, alike in all glyphs of a graph") {
  const GlyphScale scale{1e-3, 1000};
  const CsGlyph glyph = cs_glyph({0, 0, 0, 0, {message(1e-4, 10), message(2e-4, 10)}, {message(3e-4, 10)}}, 0, scale);
  REQUIRE(glyph.bars.size() == 3);
  CHECK(arc(glyph.bars[0]) == Approx(turn * 0.1));
  CHECK(arc(glyph.bars[1]) == Approx(turn * 0.2));
  CHECK(arc(glyph.bars[2]) == Approx(turn * 0.3));
}

TEST_CASE("bars longer than the ring are compressed all alike, short ones stay visible") {
  DagNode node;
  for (int i = 0; i < 10; ++i) node.sent.push_back(message(i % 2 ? 1e-3 : 2e-3, 10));
  const CsGlyph glyph = cs_glyph(node, 0, {4e-3, 10});
  CHECK(glyph.bars.back().to - glyph.bars.front().from < turn);
  CHECK(arc(glyph.bars[0]) == Approx(2 * arc(glyph.bars[1])));
  const CsGlyph tiny = cs_glyph({0, 0, 0, 0, {message(1e-9, 1)}, {}}, 0, {1, 1});
  CHECK(arc(tiny.bars[0]) == Approx(least_length));
}

TEST_CASE("height is logarithmic in the size: doubling adds the same everywhere") {
  const GlyphScale scale{1, (1 << 20) - 1.0};
  CHECK(bar_height(scale.largest_bytes, scale) == Approx(highest_height));
  for (int power = 1; power < 20; ++power) {
    const double bytes = std::pow(2.0, power) - 1, twice = std::pow(2.0, power + 1) - 1;
    CHECK(bar_height(twice, scale) - bar_height(bytes, scale) == Approx(highest_height / 20).epsilon(1e-3));
  }
  const CsGlyph glyph = cs_glyph({0, 0, 0, 0, {message(1, 1023)}, {message(1, 1023)}}, 0, scale);
  CHECK(height(glyph.bars[0]) == Approx(highest_height / 2).epsilon(1e-4));
  CHECK(height(glyph.bars[1]) == Approx(height(glyph.bars[0])).epsilon(1e-4));
}

TEST_CASE("very many messages share bars: every one in exactly one, the largest L shows") {
  DagNode node;
  for (int i = 0; i < 1000; ++i) node.received.push_back(message(1e-6, 100, i == 700 ? 9 : 1));
  const CsGlyph glyph = cs_glyph(node, 0, {1e-2, 100});
  CHECK(glyph.bars.size() <= most_bars);
  std::uint32_t next = 0;
  for (const GlyphBar& bar : glyph.bars) {
    CHECK(bar.first == next);
    next += bar.count;
    CHECK(bar.ratio == (bar.first <= 700 && 700 < next ? 9 : 1));
  }
  CHECK(next == 1000);
}

TEST_CASE("once around the ring is the fullest side of a small graph; a few outliers of a large one do not count") {
  Dag dag;
  for (int i = 0; i < 10; ++i) dag.nodes.push_back({i, 0, 0, 0, {message(1e-3, 64), message(1e-3 * i, 128u << i)}, {}});
  CHECK(glyph_scale(dag).full_ring_s == Approx(10e-3));
  CHECK(glyph_scale(dag).largest_bytes == 128 << 9);
  for (int i = 0; i < 190; ++i) dag.nodes.push_back({i, 0, 0, 0, {message(5e-3, 64)}, {}});
  dag.nodes.push_back({0, 0, 0, 0, {message(100, 64)}, {}});
  CHECK(glyph_scale(dag).full_ring_s < 11e-3);
  CHECK(glyph_scale({}).full_ring_s == 0);
}

TEST_CASE("a bar is found under its middle, and nothing beside the bars") {
  const CsGlyph glyph =
      cs_glyph({0, 0, 0, 0, {message(1, 100), message(2, 1000)}, {message(2, 100), message(1, 10), message(1, 1000)}},
               0, {8, 1000});
  for (std::size_t i = 0; i < glyph.bars.size(); ++i) {
    const GlyphBar& bar = glyph.bars[i];
    const float angle = (bar.from + bar.to) / 2, radius = (bar.inner + bar.outer) / 2;
    CHECK(bar_at(glyph, {std::cos(angle) * radius, std::sin(angle) * radius}) == static_cast<int>(i));
  }
  for (const Point nowhere : {Point{0, 0}, Point{1, 0}, Point{2, 0}, Point{-1.1f, 0}, Point{0.9f, 0}})
    CHECK(bar_at(glyph, nowhere) == -1);
}

TEST_CASE("a bar's strip lies between its circles and its angles") {
  const GlyphBar bar{true, 0, 1, 0.5f, 2.5f, 1.03f, 1.3f, 1};
  std::vector<Point> points;
  bar_strip(bar, {100, 50}, 20, points);
  REQUIRE(points.size() >= 4);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point from = points[i] - Point{100, 50};
    CHECK(length(from) == Approx(20 * (i % 2 == 0 ? bar.inner : bar.outer)).epsilon(1e-4));
    CHECK(std::atan2(from.y, from.x) >= 0.5f - 1e-4f);
    CHECK(std::atan2(from.y, from.x) <= 2.5f + 1e-4f);
  }
}

TEST_CASE("glyphs of broken graphs are finite") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const Dag dag = test::broken_dag(random);
    const GlyphScale scale = glyph_scale(dag);
    REQUIRE(std::isfinite(scale.full_ring_s));
    for (const DagNode& node : dag.nodes) {
      for (const GlyphBar& bar : cs_glyph(node, dag.ranks.empty() ? 0 : dag.ranks[0].load_balance, scale).bars) {
        CHECK(bar.to > bar.from);
        CHECK((std::isfinite(bar.from) && std::isfinite(bar.to) && std::isfinite(bar.inner) &&
               std::isfinite(bar.outer) && std::isfinite(bar.ratio)));
        CHECK(bar.outer <= highest_bar + 1e-5f);
        CHECK(bar.inner >= lowest_bar - 1e-5f);
      }
    }
  }
}
