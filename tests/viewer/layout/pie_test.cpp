#include "viewer/layout/pie.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

using namespace pclscope;
using layout::pie_pieces;
using layout::pie_sectors;

namespace {

constexpr double turn = 2 * std::numbers::pi;

// Twice the signed area; positive when clockwise on a screen (y downwards).
double twice_area(const std::vector<layout::Point>& polygon) {
  double sum = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const layout::Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    sum += static_cast<double>(a.x) * static_cast<double>(b.y) - static_cast<double>(b.x) * static_cast<double>(a.y);
  }
  return sum;
}

}  // namespace

TEST_CASE("a quarter and three quarters") {
  const std::vector<double> values{1, 3};
  const auto sectors = pie_sectors(values);
  REQUIRE(sectors.size() == 2);
  CHECK(sectors[0].begin == 0);
  CHECK(sectors[0].end == Approx(turn / 4));
  CHECK(sectors[1].begin == sectors[0].end);
  CHECK(sectors[1].end == turn);
  CHECK(sectors[1].share == Approx(0.75));
  // From 12 o'clock clockwise: right above the middle is the first, left of it the second.
  CHECK(layout::sector_at(sectors, {0, 0}, 10, {3, -3}) == 0);
  CHECK(layout::sector_at(sectors, {0, 0}, 10, {-3, -3}) == 1);
  CHECK(layout::sector_at(sectors, {0, 0}, 10, {3, 3}) == 1);
  CHECK(layout::sector_at(sectors, {0, 0}, 10, {8, 8}) == -1);
}

TEST_CASE("sectors fill the circle, whatever the values; areas are as the shares") {
  const unsigned seed = 11;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const double broken[] = {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -5, 0,
                           1e308};
  for (int round = 0; round < 200; ++round) {
    std::vector<double> values;
    for (std::size_t i = 0, n = 1 + random() % 6; i < n; ++i)
      values.push_back(random() % 4 == 0 ? broken[random() % 5] : static_cast<double>(random() % 1000));
    double sum = 0;
    for (const double v : values) sum += std::isfinite(v) && v > 0 ? v / 1e300 : 0;  // no overflow
    const auto sectors = pie_sectors(values);
    if (sum <= 0) {
      CHECK(sectors.empty());
      continue;
    }
    REQUIRE(sectors.size() == values.size());
    double at = 0;
    const float radius = static_cast<float>(5 + random() % 200);
    for (std::size_t i = 0; i < values.size(); ++i) {
      CHECK(sectors[i].begin == at);
      CHECK(sectors[i].end >= at);
      at = sectors[i].end;
      const double share = std::isfinite(values[i]) && values[i] > 0 ? values[i] / 1e300 / sum : 0;
      CHECK(sectors[i].share == Approx(share).margin(1e-12));
      CHECK(sectors[i].end - sectors[i].begin == Approx(turn * share).margin(1e-9));
      double area = 0;
      for (const auto& piece : pie_pieces(sectors[i], {300, 300}, radius)) {
        for (const layout::Point p : piece) CHECK(layout::distance(p, {300, 300}) <= radius + 0.01f);
        CHECK(twice_area(piece) >= -1e-2);
        area += twice_area(piece) / 2;
      }
      // Chords at most a quarter of a pixel inside of the rim.
      const double whole = share * std::numbers::pi * static_cast<double>(radius) * static_cast<double>(radius);
      CHECK(area <= whole + 0.5);
      CHECK(area >= whole - share * turn * static_cast<double>(radius) * 0.25 - 0.5);
    }
    CHECK(at == turn);
  }
}

TEST_CASE("nothing to share out, no pie") {
  CHECK(pie_sectors({}).empty());
  CHECK(pie_sectors(std::vector<double>{0, 0}).empty());
  CHECK(pie_pieces({0, 0, 0}, {0, 0}, 10).empty());
  CHECK(pie_pieces({0, 1, 0.2}, {0, 0}, 0).empty());
  CHECK(pie_pieces({0, 1, 0.2}, {0, 0}, std::numeric_limits<float>::quiet_NaN()).empty());
  CHECK(layout::sector_at({}, {0, 0}, 10, {1, 1}) == -1);
}
