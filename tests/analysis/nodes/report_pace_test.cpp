// Rows (pairs, sites, statuses) go up no faster than the tree's share of the budget; totals and windows do not wait.
#include <catch2/catch.hpp>
#include <random>

#include "analysis/nodes/report_tree.hpp"

using namespace pclscope;
using namespace pclscope::nodes;

namespace {

Report some(std::int64_t closed_ns, std::int32_t rank, std::uint64_t messages) {
  Report report;
  report.closed_through_ns = closed_ns;
  report.totals.matched = messages;
  PairSums pair{rank, rank + 1, {}};
  pair.sums.messages = messages;
  report.pairs.push_back(pair);
  report.ranks.emplace_back().rank = rank;
  report.windows.push_back({closed_ns - 1, pair.sums, {}, 0});
  return report;
}

std::uint64_t messages_of(const Report& report) {
  std::uint64_t sum = 0;
  for (const PairSums& p : report.pairs) sum += p.sums.messages;
  return sum;
}

}  // namespace

TEST_CASE("reports: rows wait until the last ones are paid for, totals and windows do not") {
  ReportTree tree(1, 2);
  Report up;
  tree.add_own(some(1, 0, 5));
  REQUIRE(tree.take(up, 1'000'000'000));
  CHECK(messages_of(up) == 5);
  CHECK(up.ranks.size() == 1);
  REQUIRE(tree.took_rows());
  const std::int64_t pause_ns = 2'000'000'000;
  tree.sent(static_cast<std::size_t>(ReportTree::bytes_per_s * 2));
  for (int i = 0; i < 40; ++i) {  // more than are kept unmerged
    tree.add_own(some(2 + i, i % 3, 1));
    REQUIRE(tree.take(up, 1'000'000'000 + pause_ns - 1'000'000 + i));
    CHECK(up.pairs.empty());
    CHECK(up.ranks.empty());
    CHECK(up.totals.matched == 1);
    CHECK(up.windows.size() == 1);
    CHECK_FALSE(tree.took_rows());
    tree.sent(1'000'000'000);  // without rows: nobody waits for it
  }
  REQUIRE_FALSE(tree.take(up, 1'000'000'000 + pause_ns - 1'000'000));
  REQUIRE(tree.take(up, 1'000'000'000 + pause_ns + 1'000'000));
  CHECK(up.totals.matched == 0);
  CHECK(up.windows.empty());
  CHECK(messages_of(up) == 40);
  CHECK(up.pairs.size() == 3);
  CHECK(up.ranks.size() == 3);
}

TEST_CASE("reports: at the end rows no longer wait") {
  ReportTree tree(1, 2);
  Report up;
  tree.add_own(some(1, 0, 5));
  REQUIRE(tree.take(up, 0));
  tree.sent(1'000'000'000);
  tree.add_own(some(2, 0, 7));
  REQUIRE(tree.take(up, 1));
  CHECK(up.pairs.empty());
  tree.hurry();
  REQUIRE(tree.take(up, 2));
  CHECK(messages_of(up) == 7);
}

TEST_CASE("reports: before all children have told theirs, what goes up is no news for the root") {
  ReportTree tree(1, 16);  // children 9 to 15
  Report up;
  tree.add_own(some(1, 0, 5));
  REQUIRE(tree.take(up, 0));
  CHECK(up.totals.matched == 5);
  CHECK(up.windows.empty());
  CHECK(up.closed_through_ns != ReportTree::nothing);
}

TEST_CASE("reports: whatever the pace, all rows arrive once") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    ReportTree tree(1, 2);
    std::uint64_t given = 0, taken = 0, totals = 0;
    std::int64_t now = 0;
    const auto take = [&] {
      Report up;
      if (!tree.take(up, now)) return;
      taken += messages_of(up);
      totals += up.totals.matched;
      tree.sent(random() % 1'000'000);
    };
    for (int i = 1; i < 200; ++i) {
      const std::uint64_t messages = random() % 10;
      given += messages;
      tree.add_own(some(i, static_cast<std::int32_t>(random() % 5), messages));
      now += static_cast<std::int64_t>(random() % 1'000'000'000);
      if (random() % 2) take();
    }
    tree.hurry();
    take();
    REQUIRE(taken == given);
    REQUIRE(totals == given);
  }
}
