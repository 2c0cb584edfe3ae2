// Sums per rank and site against a std::map, beyond the number of sites that are kept.
#include "analysis/blocked/site_times.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "tests/seed.hpp"

using pclscope::SiteTime;
using pclscope::blocked::SiteTimes;

TEST_CASE("times per site are the sums of what was added") {
  constexpr std::uint64_t most = 8192, rounds = 200'000;
  std::mt19937_64 random(pclscope::test::random_seed());
  SiteTimes times(2);
  std::map<std::pair<std::size_t, std::uint64_t>, SiteTime> expected;
  std::uint64_t seen[2] = {0, 0};
  for (std::uint64_t i = 0; i < rounds; ++i) {
    const std::size_t rank = random() % 2;
    // Rank 0 has more sites than are kept, rank 1 has not.
    const std::uint64_t key = 1 + random() % (rank == 0 ? most * 3 / 2 : 500), ticks = random() % 1000;
    const auto place = expected.find({rank, key});
    const bool kept = place != expected.end() || seen[rank] < most;
    times.add(rank, key, ticks, i % 3 != 0);
    if (!kept) continue;
    if (place == expected.end()) ++seen[rank];
    SiteTime& sum = expected[{rank, key}];
    sum.calls += i % 3 != 0;
    sum.inside_s += static_cast<double>(ticks);
  }
  times.add(1, 0, 5, 1);  // not known where
  const auto id_of = [](std::int32_t rank, std::uint64_t key) {
    return static_cast<std::uint32_t>(key * 2 + static_cast<std::uint64_t>(rank));
  };
  const std::vector<SiteTime> list = times.list(1, id_of);
  REQUIRE(list.size() == expected.size());
  CHECK(seen[0] == most);
  for (const SiteTime& time : list) {
    const SiteTime& sum = expected.at({time.site % 2, time.site / 2});
    REQUIRE((time.calls == sum.calls && time.inside_s == sum.inside_s));
  }
}
