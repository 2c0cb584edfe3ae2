#include "analysis/match/newest_map.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

using pclscope::NewestMap;

TEST_CASE("a map of the newest entries is what a list of pairs in order says") {
  std::mt19937_64 random(4);
  for (const std::size_t most : {1, 2, 7, 40}) {
    NewestMap<int> map(most);
    std::vector<std::pair<std::uint64_t, int>> list;  // oldest first
    std::uint64_t dropped = 0;
    for (int step = 0; step < 3'000; ++step) {
      const std::uint64_t key = random() % 60;
      const auto at = std::find_if(list.begin(), list.end(), [&](const auto& e) { return e.first == key; });
      if (random() % 3 == 0) {
        const auto taken = map.take(key);
        REQUIRE(taken.has_value() == (at != list.end()));
        if (at == list.end()) continue;
        REQUIRE(*taken == at->second);
        list.erase(at);
      } else {
        if (at != list.end()) list.erase(at);
        if (list.size() == most) {
          list.erase(list.begin());
          ++dropped;
        }
        list.emplace_back(key, step);
        map.put(key, step);
      }
      REQUIRE(map.size() == list.size());
      REQUIRE(map.empty() == list.empty());
      REQUIRE(map.dropped() == dropped);
    }
    for (const auto& [key, value] : list) REQUIRE(map.take(key) == value);
    CHECK(map.empty());
  }
}
