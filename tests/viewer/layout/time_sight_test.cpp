// Zoom, pan and following the newest.
#include "viewer/layout/time_sight.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

using namespace pclscope::layout;

TEST_CASE("pixels and moments are each other's inverse") {
  const std::vector<TimeRange> full{{10, 20}};
  TimeSight sight;
  sight.set(TimeAxis::compressed(0, 100, full, 0.1), 100, 900);
  CHECK(sight.x(0) == 100);
  CHECK(sight.x(100) == 900);
  sight.zoom(500, 4);
  REQUIRE(sight.part());
  for (float x = 100; x <= 900; x += 50) CHECK(sight.x(sight.second(x)) == Approx(x).margin(0.01));
}

TEST_CASE("zooming keeps what is under the mouse, and out again shows all") {
  TimeSight sight;
  const TimeAxis axis(0, 50);
  sight.set(axis, 0, 1000);
  const double under = sight.second(300);
  sight.zoom(300, 3);
  sight.set(axis, 0, 1000);
  CHECK(sight.second(300) == Approx(under));
  CHECK_FALSE(sight.following());
  sight.zoom(300, -3);
  CHECK_FALSE(sight.part());
  CHECK(sight.following());
}

TEST_CASE("who looks back stays there while the run goes on; who follows moves on with it") {
  TimeSight back, follows;
  for (TimeSight* s : {&back, &follows}) s->set(TimeAxis(0, 100), 0, 1000);
  back.zoom(200, 5);
  follows.zoom(1000, 5);
  CHECK(follows.following());
  const TimeRange before = *back.part();
  const double length = follows.part()->end_s - follows.part()->begin_s;
  for (TimeSight* s : {&back, &follows}) s->set(TimeAxis(0, 130), 0, 1000);
  CHECK(*back.part() == before);
  CHECK(back.x(before.begin_s) == Approx(0).margin(0.01));
  CHECK(back.x(before.end_s) == Approx(1000).margin(0.01));
  CHECK(follows.part()->end_s == 130);
  CHECK(follows.part()->end_s - follows.part()->begin_s == Approx(length));
  back.follow();
  back.set(TimeAxis(0, 131), 0, 1000);
  CHECK(back.part()->end_s == 131);
  CHECK(back.second(1000) == Approx(131));
}

TEST_CASE("panning moves by pixels and stops at the ends") {
  TimeSight sight;
  sight.set(TimeAxis(0, 100), 0, 1000);
  sight.pan(50);
  CHECK_FALSE(sight.part());  // all is in view: nothing to move
  sight.zoom(500, 4);
  const double at = sight.second(500);
  sight.pan(100);
  CHECK(sight.second(600) == Approx(at));
  sight.pan(1e6f);
  CHECK(sight.part()->begin_s == 0);
  sight.pan(-1e6f);
  CHECK(sight.part()->end_s == Approx(100));
  CHECK(sight.following());
}

TEST_CASE("whatever is done, the part in view is inside the axis and pixels are finite") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    TimeSight sight;
    double end = 1;
    for (int step = 0; step < 60; ++step) {
      if (random() % 20 == 0) end = static_cast<double>(random() % 3);
      end += static_cast<double>(random() % 10);
      sight.set(TimeAxis(0, end), 0, static_cast<float>(random() % 2000));
      const float odd[] = {NAN, INFINITY, -1e30f, 0, 1, -1, 40, -40, 1000};
      if (random() % 2 == 0) sight.zoom(odd[random() % 9], odd[random() % 9]);
      else sight.pan(odd[random() % 9]);
      if (random() % 10 == 0) sight.follow();
      CHECK((sight.low() >= 0 && sight.high() <= 1 && sight.low() < sight.high()));
      for (const double t : {-1.0, 0.0, end / 2, end, 1e300}) CHECK(std::isfinite(sight.x(t)));
      CHECK((sight.second(17) >= 0 && sight.second(17) <= std::max(end, 1e-5)));
    }
  }
}
