#include "analysis/delay/origins.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "analysis/delay/blame_sum.hpp"

using namespace pclscope;

TEST_CASE("When rows are used up the least ones are merged per rank, and nothing is lost") {
  constexpr std::int32_t ranks = 1000;
  Origins origins(ranks);
  std::mt19937 random(11);
  double sum_s = 0;
  std::vector<double> caused(ranks);
  std::uint32_t dear = 0;
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    const auto moved = origins.make_room(64);
    if (!moved.empty()) dear = moved[dear];
    const auto rank = static_cast<std::int32_t>(random() % ranks);
    const std::uint32_t row = i == 0 ? dear = origins.row(3, 77, 78) : origins.row(rank, random() % 1000 + 1, 5);
    const std::uint32_t charged = i % 1000 == 0 ? dear : row;
    const double ns = i % 1000 == 0 ? 1e6 : random() % 1000 + 1;
    origins.charge({charged, 1, i}, {ranks - 1, i, i + 1, 3, false}, ns);
    if (origins.rank_of(charged) == ranks - 1) continue;
    sum_s += ns * 1e-9;
    caused[static_cast<std::size_t>(origins.rank_of(charged))] += ns * 1e-9;
  }
  CHECK(origins.size() <= Origins::limit);
  double listed_s = 0;
  const auto list = origins.list(SIZE_MAX);
  for (const DelayOrigin& o : list) listed_s += o.cost_s;
  CHECK(listed_s == Approx(sum_s));
  const auto expensive = std::find_if(list.begin(), list.end(), [](const auto& o) { return o.site == 77; });
  REQUIRE(expensive != list.end());
  CHECK(expensive->cost_s >= 0.3);
  for (const std::int32_t rank : {0, 3, 500})
    CHECK(origins.caused_s(rank) == Approx(caused[static_cast<std::size_t>(rank)]));
}

TEST_CASE("More ranks than rows: still one row per rank") {
  constexpr std::int32_t ranks = 100'000;
  Origins origins(ranks);
  for (std::uint32_t i = 0; i < 2 * ranks; ++i) {
    origins.make_room(64);
    const std::uint32_t row = origins.row(static_cast<std::int32_t>(i % ranks), i / ranks + 1, 0);
    origins.charge({row, 1, 0}, {0, 0, 1, 0, false}, 1000);
  }
  CHECK(origins.size() <= 2 * static_cast<std::size_t>(ranks));
  double sum_s = 0;
  for (const DelayOrigin& o : origins.list(SIZE_MAX)) sum_s += o.cost_s;
  CHECK(sum_s == Approx((2e5 - 2) * 1e-6));
}

TEST_CASE("Who lost most comes first, also with more victims than are kept") {
  Origins origins(1000);
  const std::uint32_t row = origins.row(999, 1, 2);
  for (std::int32_t victim = 0; victim < 100; ++victim)
    origins.charge({row, 1, 0}, {victim, 0, 1, 999, false}, 1000.0 * (victim + 1));
  const auto list = origins.list(1);
  REQUIRE(list.size() == 1);
  REQUIRE(list[0].victims.size() == 8);
  for (std::int32_t i = 0; i < 8; ++i) {
    CHECK(list[0].victims[static_cast<std::size_t>(i)] == 99 - i);
    CHECK(list[0].victim_s[static_cast<std::size_t>(i)] == Approx(1e-6 * (100 - i)));
  }
}

TEST_CASE("The worst visit is the one that cost most") {
  Origins origins(4);
  const std::uint32_t row = origins.row(0, 1, 2);
  for (const auto& [visit, ns] :
       std::vector<std::pair<std::int64_t, double>>{{10, 5}, {20, 3}, {10, 4}, {20, 3}, {5, 8}})
    origins.charge({row, 1, visit}, {1, visit, visit + 1, 0, false}, ns);
  CHECK(origins.list(1)[0].worst_s == Approx(9e-9));
  CHECK(origins.list(1)[0].waits == 5);
}

TEST_CASE("Parts that exceed a wait give away the same amount each, small ones first") {
  BlameSum sum;
  sum.add({1, 0, 0}, 20);
  sum.add({2, 0, 0}, 1);
  sum.add({3, 0, 0}, 10);
  sum.shave(26);  // 5 too many: 1 from the small one, 2 from each of the others
  REQUIRE(sum.parts().size() == 2);
  CHECK(sum.parts()[0].blame.origin == 1);
  CHECK(sum.parts()[0].ns == Approx(18));
  CHECK(sum.parts()[1].ns == Approx(8));
  CHECK(sum.parts()[0].blame.share == Approx(18.0 / 26));
  sum.clear();
  sum.add({1, 0, 0}, 20);
  sum.shave(26);  // the rest is out of sight
  REQUIRE(sum.parts().size() == 2);
  CHECK(BlameSum::is_special(sum.parts()[1]));
  CHECK(sum.parts()[1].ns == Approx(6));
}
