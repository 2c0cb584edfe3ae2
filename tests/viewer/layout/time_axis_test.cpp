// The compressed time axis against what it promises.
#include "viewer/layout/time_axis.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace pclscope::layout;

TEST_CASE("a linear axis") {
  const TimeAxis axis(10, 20);
  CHECK(axis.linear());
  CHECK(axis.place(10) == 0);
  CHECK(axis.place(12.5) == Approx(0.25));
  CHECK(axis.place(20) == 1);
  CHECK(axis.place(5) == 0);
  CHECK(axis.place(25) == 1);
  CHECK(axis.second(0.25) == Approx(12.5));
}

TEST_CASE("a compressed axis, computed on paper") {
  // 100 s, of interest 40 to 50 and 90 to 100; the calm 40 s twice get a tenth each, the 20 s of interest 0.8.
  const std::vector<TimeRange> full{{90, 100}, {40, 50}};
  const TimeAxis axis = TimeAxis::compressed(0, 100, full, 0.1);
  REQUIRE(axis.sections().size() == 4);
  CHECK(axis.sections()[0].compressed);
  CHECK_FALSE(axis.sections()[1].compressed);
  CHECK(axis.place(40) == Approx(0.1));
  CHECK(axis.place(50) == Approx(0.5));
  CHECK(axis.place(45) == Approx(0.3));
  CHECK(axis.place(70) == Approx(0.55));
  CHECK(axis.place(90) == Approx(0.6));
  CHECK(axis.place(100) == 1);
  CHECK(axis.second(0.05) == Approx(20));
}

TEST_CASE("nothing of interest, or nothing else, is linear; a short calm section is not compressed") {
  CHECK(TimeAxis::compressed(0, 10, {}, 0.1).linear());
  const std::vector<TimeRange> all{{-5, 7}, {6, 30}}, most{{0, 4.9}, {5, 10}};
  CHECK(TimeAxis::compressed(0, 10, all, 0.1).linear());
  const TimeAxis axis = TimeAxis::compressed(0, 10, most, 0.1);
  CHECK(axis.linear());
  CHECK(axis.place(5) == Approx(0.5));
}

TEST_CASE("compressed axes are monotone and invertible, and what is of interest keeps one scale") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(random);
    };
    const double begin = uniform(-100, 100), length = std::pow(10, uniform(-2, 6)), end = begin + length;
    std::vector<TimeRange> full(random() % 12);
    for (TimeRange& i : full) {
      i.begin_s = uniform(begin - 0.1 * length, end);
      i.end_s = i.begin_s + length * std::pow(10, uniform(-4, -0.5));
    }
    const TimeAxis axis = TimeAxis::compressed(begin, end, full, uniform(0.005, 0.2));
    CHECK(axis.begin_s() == begin);
    CHECK(axis.end_s() == end);
    double narrow = 0, scale = 0, until = begin, place = 0;
    for (const auto& s : axis.sections()) {
      CHECK(s.begin_s == until);
      CHECK(s.low == place);
      CHECK(s.high > s.low);
      CHECK(s.end_s > s.begin_s);
      until = s.end_s;
      place = s.high;
      if (s.compressed) {
        narrow += s.high - s.low;
        for (const TimeRange& i : full)
          CHECK((i.end_s <= s.begin_s + 1e-5 || i.begin_s >= s.end_s - 1e-5));  // of interest: never in it
      } else {
        if (scale > 0) CHECK(s.scale() == Approx(scale).epsilon(1e-6));
        scale = s.scale();
      }
    }
    CHECK(until == end);
    CHECK(place == 1);
    CHECK(narrow <= TimeAxis::most_narrow + 1e-9);
    for (const auto& s : axis.sections()) {
      if (s.compressed) CHECK(s.scale() <= scale * (1 + 1e-9));  // never wider than it was
    }
    double last = -1;
    for (int i = 0; i <= 200; ++i) {
      const double t = begin + length * i / 200, p = axis.place(t);
      CHECK(p > last);
      last = p;
      CHECK(axis.second(p) == Approx(t).margin(1e-7 * length));
    }
  }
}

TEST_CASE("ticks are round, apart, and not where time is compressed") {
  const std::vector<TimeRange> full{{40, 50}, {90, 100}};
  const TimeAxis axis = TimeAxis::compressed(0, 100, full, 0.1);
  const std::vector<double> ticks = time_ticks(axis, 0, 1, 0.1);
  REQUIRE(ticks.size() >= 4);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    CHECK(((ticks[i] >= 40 && ticks[i] <= 50) || ticks[i] >= 90));
    CHECK(std::fmod(ticks[i], 5) == 0);
    if (i > 0) CHECK(axis.place(ticks[i]) - axis.place(ticks[i - 1]) >= 0.0999);
  }
  CHECK(time_ticks(TimeAxis(0, 3600), 0, 1, 0.1).size() == 7);  // every 10 minutes, with both ends
  CHECK(time_ticks(TimeAxis(0, 3600), 0.5, 1, 0.1) == std::vector<double>{1800, 2400, 3000, 3600});
}

TEST_CASE("nonsense makes an axis all the same") {
  const double odd[] = {std::nan(""), INFINITY, -INFINITY, 1e300, -1e300, 0, -1, 1e-300, 1e17};
  for (const double a : odd) {
    for (const double b : odd) {
      for (const double c : odd) {
        const std::vector<TimeRange> full{{a, b}, {b, c}, {c, a}, {0.1, 0.2}};
        const TimeAxis axis = TimeAxis::compressed(a, b, full, c);
        CHECK(axis.end_s() > axis.begin_s());
        CHECK(std::isfinite(axis.begin_s()));
        CHECK(std::isfinite(axis.end_s()));
        for (const double t : odd) {
          CHECK((axis.place(t) >= 0 && axis.place(t) <= 1));
          CHECK((axis.second(t) >= axis.begin_s() && axis.second(t) <= axis.end_s()));
        }
        CHECK(time_ticks(axis, a, b, c).size() <= 200);
        CHECK(time_ticks(axis, 0, 1, 0.1).size() <= 200);
      }
    }
  }
}
