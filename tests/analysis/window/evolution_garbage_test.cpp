#include <catch2/catch.hpp>
#include <iostream>
#include <limits>
#include <random>

#include "analysis/window/evolution.hpp"
#include "tests/analysis/window/series.hpp"

using namespace pclscope;
using namespace pclscope::series;

namespace {

double garbage(std::mt19937_64& random) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double list[] = {0, -0.0, 1, -1, nan, inf, -inf, 1e-320, 1e308, -1e308, 1e9, -1e9, 1e-9, 3.5, 1e15, 1e18};
  const std::uint64_t choice = random() % 24;
  return choice < 16 ? list[choice] : std::uniform_real_distribution<double>(0, 3)(random);
}

void check_finite(const Period& p) {
  for (const double v : {p.begin_s, p.end_s, p.mean_ratio, p.begin_ratio, p.middle_ratio, p.end_ratio, p.late_sender_s,
                         p.late_receiver_s, p.transfer_s})
    REQUIRE(std::isfinite(v));
  REQUIRE(p.end_s >= p.begin_s);
  REQUIRE(p.mean_ratio >= 0);
}

}  // namespace

TEST_CASE("garbage in: finite periods that follow each other, and every message counted") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    CAPTURE(seed);
    Evolution evolution(8 + random() % 40);
    std::uint64_t windows = 0;
    const bool wild_times = seed % 2 == 0;
    for (int t = 0; t < 1500; ++t) {
      RegionWindow w = window(garbage(random), random() % 5 == 0 ? random() : random() % 300);
      w.late_sender_s = garbage(random);
      w.late_receiver_s = garbage(random);
      w.transfer_s = garbage(random);
      windows += w.messages > 0;
      evolution.add(w, wild_times ? garbage(random) : t, wild_times ? garbage(random) : 1,
                    static_cast<std::uint64_t>(t));
      if (random() % 50 == 0) evolution.silent(garbage(random), garbage(random));
      if (random() % 20 == 0)
        for (const Period& p : evolution.newest(random() % 40)) check_finite(p);
      (void)evolution.provisional(random() % 2000);
    }
    evolution.finish();
    std::uint64_t counted = 0;
    double end = -INFINITY;
    for (const Period& p : evolution.periods()) {
      check_finite(p);
      REQUIRE(p.begin_s >= end);
      end = p.end_s;
      counted += p.windows;
    }
    REQUIRE(counted == windows);
  }
}

TEST_CASE("no window, one window, only silent windows, a window of 1e9 seconds") {
  Evolution none;
  CHECK(none.periods().empty());
  none.finish();
  CHECK(none.periods().empty());
  none.add(RegionWindow{}, 0, 1);
  none.silent(100, 1);
  CHECK(none.periods().empty());

  Evolution one;
  one.add(window(2), 5, 0.1);
  REQUIRE(one.periods().size() == 1);
  CHECK(one.periods()[0].open);
  one.finish();
  one.finish();
  REQUIRE(one.periods().size() == 1);
  CHECK_FALSE(one.periods()[0].open);
  CHECK(one.periods()[0].begin_ratio == 2);

  Evolution long_one;
  for (int t = 0; t < 300; ++t) long_one.add(window(1.2), t * 1e9, 1e9);
  long_one.finish();
  REQUIRE(long_one.periods().size() == 1);
  CHECK(long_one.periods()[0].end_s == 300e9);
}
