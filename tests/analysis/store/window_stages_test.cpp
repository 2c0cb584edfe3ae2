// Windows are merged, and never use up their space.
#include "analysis/store/window_stages.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::store;

namespace {

Window window(double begin_s, std::vector<RegionWindow> regions) {
  Window w;
  w.begin_s = begin_s;
  w.length_s = 0.5;
  w.regions = regions;
  for (const RegionWindow& region : regions) w.all.messages += region.messages;
  w.all.region = -1;
  return w;
}

}  // namespace

TEST_CASE("merged windows: sums, means weighted by messages, regions by id, and the gap between them") {
  Window a = window(1, {{7, 10, 100, 1, 2.0, 0.5, 0.25, 1, 4.0}, {3, 1, 8, 0, 1.0, 0, 0, 1, 1.0}});
  const Window b = window(3, {{7, 30, 300, 2, 6.0, 0.5, 0.25, 3, 8.0}, {9, 5, 40, 0, 1.5, 0, 0, 2, 1.0}});
  a.all.mean_ratio = 2;
  Window b2 = b;
  b2.all.mean_ratio = 4;
  merge(a, b2);
  CHECK(a.begin_s == 1);
  CHECK(a.length_s == 2.5);
  CHECK(a.all.messages == 46);
  CHECK(a.all.mean_ratio == Approx((11 * 2.0 + 35 * 4.0) / 46));
  REQUIRE(a.regions.size() == 3);
  CHECK(a.regions[0] == RegionWindow{3, 1, 8, 0, 1.0, 0, 0, 1, 1.0});
  CHECK(a.regions[1] == RegionWindow{7, 40, 400, 3, 5.0, 1.0, 0.5, 4, 7.0});
  CHECK(a.regions[2] == RegionWindow{9, 5, 40, 0, 1.5, 0, 0, 2, 1.0});
}

TEST_CASE("merging without messages, or of absurd numbers, stays finite") {
  Window empty = window(0, {{1, 0, 0, 0, 0, 0, 0, 0, 0}});
  merge(empty, empty);
  CHECK(empty.regions[0].mean_ratio == 0);
  const double most = std::numeric_limits<double>::max();
  const std::uint64_t many = ~std::uint64_t{0};
  Window absurd = window(-most, {{1, many, many, many, -most, most, most, -most, most}});
  merge(absurd, window(most, {{1, many, many, many, most, most, most, -most, -most}}));
  CHECK(std::isfinite(absurd.length_s));
  for (const RegionWindow& region : absurd.regions) {
    for (const double value : {region.mean_ratio, region.mean_transfer_ratio, region.late_sender_s,
                               region.late_receiver_s, region.transfer_s}) {
      CHECK(std::isfinite(value));
    }
  }
}

TEST_CASE("the space lasts for any number of windows, each stage 1.75 times as long as the one before") {
  // Under sanitizers half of the space for an eighth of the windows.
  constexpr std::uint64_t share = test::under_sanitizer ? 500'000 : 1'000'000, cost = 500;
  constexpr std::uint64_t windows = test::thinned(50'000'000u, 6'250'000u);
  WindowStages stages(share);
  std::uint64_t spent = 0, at = 0, last_change = 0, factor = 1;
  std::vector<double> lengths;
  for (; at < windows; at++) {
    Window next;
    next.begin_s = static_cast<double>(at);
    next.length_s = 1;
    next.all.messages = 1;
    if (const auto stored = stages.add(next)) {
      CHECK(stored->length_s == static_cast<double>(stages.factor()));
      CHECK(stored->all.messages == stages.factor());
      stages.spent(cost);
      spent += cost;
    }
    if (stages.factor() == factor) continue;
    CHECK(stages.factor() == 2 * factor);
    factor = stages.factor();
    lengths.push_back(static_cast<double>(at - last_change));
    last_change = at;
  }
  CHECK(spent < share);
  CHECK(lengths.size() > (test::under_sanitizer ? 12 : 15));
  for (std::size_t i = 1; i < 12; i++) CHECK(lengths[i] / lengths[i - 1] == Approx(1.75).margin(0.1));
  // Against the age of the run a window is short, though only 2000 rows fit.
  CHECK(static_cast<double>(factor) < static_cast<double>(at) / 20);
}

TEST_CASE("the end of the run gives what waits, once") {
  WindowStages stages(8 * 100);
  REQUIRE(stages.add(window(0, {})));
  stages.spent(1000);
  CHECK_FALSE(stages.add(window(1, {})));
  CHECK(stages.rest()->begin_s == 1);
  CHECK_FALSE(stages.rest());
}
