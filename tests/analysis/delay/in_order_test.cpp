#include "analysis/delay/in_order.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace pclscope;

TEST_CASE("any times come out in order, equal ones as they came, whatever was sorted before") {
  std::mt19937_64 random(5);
  InOrder order;
  constexpr std::int64_t longest = std::int64_t{1} << 61;
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = random() % (round % 10 == 0 ? 20'000 : 300);
    const auto spread = static_cast<std::int64_t>(1 + random() % (std::uint64_t{1} << random() % 50));
    std::vector<std::int64_t> times(count);
    for (std::size_t i = 0; i < count; ++i) {
      times[i] = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread)) - spread / 2;
      if (round % 3 == 0) times[i] += static_cast<std::int64_t>(i) * 10;                // nearly in order
      if (round % 7 == 0 && i % 50 == 0) times[i] = i % 100 == 0 ? longest : -longest;  // few fill the slices
      if (round % 5 == 0) times[i] = static_cast<std::int64_t>(i / 3);                  // in order
    }
    const std::int64_t newest = order.sort(count, [&](std::size_t i) { return times[i]; });
    std::vector<std::uint32_t> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(expected.begin(), expected.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return times[a] < times[b]; });
    REQUIRE(order.size() == count);
    bool same = true;
    for (std::size_t i = 0; i < count; ++i)
      same = same && order[i].index == expected[i] && order[i].time == times[expected[i]];
    CHECK(same);
    CHECK(newest == (count == 0 ? std::numeric_limits<std::int64_t>::min() : times[expected.back()]));
  }
}
