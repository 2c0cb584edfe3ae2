#include "viewer/layout/criteria_plot.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "tests/seed.hpp"

using namespace pclscope;
using namespace pclscope::layout;

namespace {

const Rect area_of_plot{{100, 50}, {500, 350}};

Criterion criterion(bool inter_node, std::uint64_t low, std::uint64_t high, double seconds, double transfer = 0) {
  Criterion c;
  c.inter_node = inter_node;
  c.bytes_low = low;
  c.bytes_high = high;
  c.count = 100;
  c.median_s = c.criterion_s = seconds;
  c.transfer_median_s = c.transfer_criterion_s = transfer;
  return c;
}

}  // namespace

TEST_CASE("criteria lie where their size and time are, both logarithmic") {
  // 16 B to 64 B: in the middle 32 B; 1 KiB to 4 KiB: 2 KiB. Axes: 32 B to 2 KiB, 1 us to 1 ms.
  const std::vector<Criterion> criteria = {criterion(false, 1024, 4096, 1e-5), criterion(false, 16, 64, 1e-6, 1e-6),
                                           criterion(true, 16, 64, 1e-3)};
  const CriteriaPlot plot = criteria_plot(criteria, area_of_plot);
  CHECK(plot.bytes_low == 32);
  CHECK(plot.bytes_high == 2048);
  CHECK(plot.time_low == Approx(1e-6));
  CHECK(plot.time_high == Approx(1e-3));
  REQUIRE(plot.inside.size() == 2);
  CHECK(plot.inside[0].index == 1);  // by size
  CHECK(plot.inside[0].at.x == Approx(100));
  CHECK(plot.inside[0].at.y == Approx(350));
  CHECK(plot.inside[1].index == 0);
  CHECK(plot.inside[1].at.x == Approx(500));
  CHECK(plot.inside[1].at.y == Approx(250));  // a third of three powers of ten
  REQUIRE(plot.between.size() == 1);
  CHECK(plot.between[0].at.y == Approx(50));
  REQUIRE(plot.inside_transfer.size() == 1);
  CHECK(plot.between_transfer.empty());
  CHECK(plot.points() == 3);
  CHECK(point_near(plot, {103, 347}, 10) == &plot.inside[0]);
  CHECK(point_near(plot, {103, 55}, 10) == &plot.between[0]);
  CHECK(point_near(plot, {300, 200}, 10) == nullptr);
  CHECK(size_ticks(plot, 100) == std::vector<double>{32, 64, 128, 256, 512, 1024, 2048});
  CHECK(size_ticks(plot, 4) == std::vector<double>{64, 256, 1024});
  CHECK(duration_ticks(plot).size() == 4);
}

TEST_CASE("whatever criteria hold, points lie in the plot, in the order of sizes, and none is drawn that has no time") {
  const std::uint64_t seed = test::random_seed() + 5;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<Criterion> criteria;
    std::size_t usable = 0;
    for (std::size_t i = random() % 30; i > 0; --i) {
      constexpr double odd[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300, 1e-300};
      const auto any = [&] {
        return random() % 3 == 0 ? odd[random() % std::size(odd)]
                                 : std::pow(10, -9 + static_cast<double>(random() % 90) / 10);
      };
      Criterion c =
          criterion(random() % 2 == 0, random() >> (random() % 64), random() >> (random() % 64), any(), any());
      usable += std::isfinite(c.criterion_s) && c.criterion_s >= 1e-10 && c.criterion_s <= 1e6;
      criteria.push_back(c);
    }
    const CriteriaPlot plot = criteria_plot(criteria, area_of_plot);
    CHECK(plot.points() == usable);
    CHECK(plot.empty() == (usable == 0));
    const Rect around{area_of_plot.low - Point{0.1f, 0.1f}, area_of_plot.high + Point{0.1f, 0.1f}};
    for (const auto* points : {&plot.inside, &plot.between, &plot.inside_transfer, &plot.between_transfer}) {
      float before = -1;
      for (const CriteriaPoint& point : *points) {
        CHECK(around.holds(point.at));
        CHECK(point.at.x >= before);
        before = point.at.x;
      }
    }
    CHECK(size_ticks(plot, 6).size() <= 7);
    CHECK(duration_ticks(plot).size() <= 20);
  }
}
