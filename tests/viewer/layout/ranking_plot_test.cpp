// The plot of a ranking: places and pixels both ways, on random values.
#include "viewer/layout/ranking_plot.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::layout;

TEST_CASE("the first five percent are at least one, and never more than there are") {
  CHECK(top_count(1460, 5) == 73);
  CHECK(top_count(100, 5) == 5);
  CHECK(top_count(101, 5) == 6);
  CHECK(top_count(3, 5) == 1);
  CHECK(top_count(3, 100) == 3);
  CHECK(top_count(3, 1000) == 3);
  CHECK(top_count(3, NAN) == 1);
  CHECK(top_count(0, 5) == 0);
}

TEST_CASE("values of a ranking lie where they should, linear and logarithmic") {
  const std::vector<double> values = {1000, 100, 10, 0};
  const Rect area{{0, 0}, {8, 300}};
  const RankingPlot linear = ranking_plot(values, area, false);
  CHECK(linear.x(1) == 2);
  CHECK(linear.y(1000) == 0);
  CHECK(linear.y(100) == Approx(270));
  CHECK(linear.y(0) == 300);
  const RankingPlot logarithmic = ranking_plot(values, area, true);
  CHECK(logarithmic.least == 10);
  CHECK(logarithmic.y(100) == Approx(150));
  CHECK(logarithmic.y(10) == 300);
  CHECK(logarithmic.y(0) == 300);
  const auto columns = ranking_columns(values, linear);
  REQUIRE(columns.size() == 8);
  CHECK(columns[1].most == 1000);
  CHECK(columns[2].most == 100);
  CHECK(columns[7].most == 0);
  // Two places in each column.
  const auto few = ranking_columns(values, ranking_plot(values, {{0, 0}, {2, 10}}, false));
  REQUIRE(few.size() == 2);
  CHECK(few[0].most == 1000);
  CHECK(few[0].least == 100);
  CHECK(few[1].least == 0);
}

TEST_CASE("of random rankings each place is in a column, places and pixels go both ways, values keep their order") {
  const std::uint64_t seed = test::random_seed() + 12;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    std::vector<double> values;
    for (std::uint64_t i = random() % 3000; i > 0; --i) {
      const double any[] = {0, 1e300, std::exp(static_cast<double>(random() % 40)), static_cast<double>(random() % 5)};
      values.push_back(any[random() % (round % 3 == 0 ? 4 : 3)]);
    }
    std::sort(values.rbegin(), values.rend());
    const Rect area{{10, 20}, {10 + static_cast<float>(1 + random() % 700), 220}};
    const RankingPlot plot = ranking_plot(values, area, round % 2 == 0);
    const auto columns = ranking_columns(values, plot);
    if (values.empty()) {
      CHECK(columns.empty());
      continue;
    }
    REQUIRE(columns.size() == static_cast<std::size_t>(area.width()));
    CHECK(columns.front().most == values.front());
    CHECK(columns.back().least == values.back());
    double last = values.front();
    for (const RankingColumn& column : columns) {
      CHECK(column.most <= last);
      CHECK(column.least <= column.most);
      CHECK(area.holds({column.x, plot.y(column.most)}));
      last = column.least;
    }
    const auto count = static_cast<double>(plot.count);
    for (std::size_t place = 0; place < plot.count; place += 1 + plot.count / 50)
      CHECK(plot.place(plot.x(static_cast<double>(place))) ==
            Approx(static_cast<double>(place)).margin(0.001 * count + 0.001));
    CHECK(plot.place(-1e9f) == 0);
    CHECK(plot.place(1e9f) == count);
    CHECK(plot.y(plot.most) == Approx(area.low.y));
    CHECK(plot.y(0) == Approx(area.high.y));
  }
}
