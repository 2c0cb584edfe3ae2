// How long the worker rests, and what ends its rest.
#include "analysis/aggregator/rest.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "analysis/aggregator/pace.hpp"

using namespace pclscope;
using namespace std::chrono_literals;
using aggregator::Pace;
using aggregator::Rest;

TEST_CASE("rings are an eighth full after a rest, at the highest rate of late") {
  Pace pace;
  Pace::Clock::time_point now{1s};
  const auto turn = [&](std::chrono::nanoseconds rested, double fullest) {
    now += rested;
    pace.reading(now, fullest);
    pace.has_read(now);
  };
  turn(0ns, 0.9);  // it is not known since when
  CHECK(pace.rest(20ms) == 20ms);
  turn(10ms, 0);
  CHECK(pace.rest(20ms) == 20ms);
  turn(10ms, 0.125);
  CHECK(pace.rest(20ms) == 10ms);
  turn(10ms, 0.5);
  CHECK(pace.rest(20ms) == 2500us);
  turn(1ns, 0);  // a quiet moment is no reason to sleep longer
  CHECK(pace.rest(20ms) < 2510us);
  turn(1s, 0);  // half as much is expected after half a second
  CHECK(pace.rest(20ms) > 9ms);
  CHECK(pace.rest(20ms) < 11ms);
  turn(1ms, 2);
  CHECK(pace.rest(20ms) == Pace::least);
  CHECK(pace.rest(4ms) == Pace::least);
}

TEST_CASE("a burst is no rate") {
  Pace pace;
  Pace::Clock::time_point now{1s};
  pace.has_read(now);
  pace.reading(now += 100us, 0.01);  // a hundredth of a ring at once, and then nothing for a long time
  CHECK(pace.rest(20ms) == 12500us);
}

TEST_CASE("a rest ends by the bell, by a word, or because a ring fills already") {
  record::Bell bell{};
  Rest rest(&bell);
  constexpr auto for_ever = std::chrono::hours(24);
  const auto no = [] { return false; };
  rest.sleep(1ms, -1, no);
  CHECK(bell.resting == 0);
  rest.sleep(for_ever, -1, [&] {
    CHECK(bell.resting == 1);  // who fills a ring from now on rings
    return true;
  });
  CHECK(bell.resting == 0);
  for (int i = 0; i < 3; ++i) {
    std::thread rank([&] {
      while (bell.rung == static_cast<std::uint32_t>(i)) record::ring_bell(bell);
    });
    rest.sleep(for_ever, -1, no);
    rank.join();
  }
  CHECK(bell.rung == 3);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "x", 1) == 1);
  rest.sleep(for_ever, ends[0], no);
  Rest without(nullptr);
  without.sleep(for_ever, ends[0], no);
  without.sleep(1ms, -1, no);
  ::close(ends[0]);
  ::close(ends[1]);
}
