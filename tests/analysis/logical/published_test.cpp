// The programs of the paper: merge trees in two orders, near-neighbour exchange.
#include <catch2/catch.hpp>

#include "analysis/logical/sums.hpp"
#include "tests/analysis/logical/programs.hpp"

using namespace pclscope;
using namespace pclscope::test;
using logical::LogicalTime;
using logical::Phase;

namespace {

using Steps = std::vector<std::uint32_t>;
constexpr std::int64_t ms = 1'000'000;

}  // namespace

TEST_CASE("16 ranks in a 4-ary merge tree, original order: first its four blocks, then the root") {
  const LogicalTime t = logical_time_of(merge_tree(16, 4, false));
  REQUIRE(t.phases.size() == 5);
  for (std::size_t block = 0; block < 4; ++block) {
    const auto b = static_cast<std::int32_t>(4 * block);
    CHECK(ranks_of(t, t.phases[block]) == std::vector<std::int32_t>{b, b + 1, b + 2, b + 3});
    CHECK(t.phases[block].first_step == 0);
    CHECK(t.phases[block].steps == 8);
  }
  CHECK(t.phases[4].parts == 16);
  CHECK(t.phases[4].first_step == 8);
  CHECK(t.phases[4].steps == 17);
  // Receives of three leaves, back to them; receives of three blocks, back to the leaves before the blocks.
  CHECK(steps_of_rank(t, 0) == Steps{1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 14, 15, 17, 19});
  CHECK(steps_of_rank(t, 4) == Steps{1, 2, 3, 4, 5, 6, 8, 16, 17, 19, 21});
  CHECK(steps_of_rank(t, 8) == Steps{1, 2, 3, 4, 5, 6, 8, 18, 19, 21, 22});
  CHECK(steps_of_rank(t, 12) == Steps{1, 2, 3, 4, 5, 6, 8, 20, 21, 22, 23});
  CHECK(steps_of_rank(t, 1) == Steps{0, 5, 13});
  CHECK(steps_of_rank(t, 15) == Steps{0, 7, 24});
}

TEST_CASE("16 ranks in a 4-ary merge tree, improved: the root is reached before anything goes down") {
  const LogicalTime t = logical_time_of(merge_tree(16, 4, true));
  REQUIRE(t.phases.size() == 5);
  CHECK(t.phases[0].parts == 16);
  CHECK(t.phases[0].steps == 15);
  CHECK(steps_of_rank(t, 0) == Steps{1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17});
  CHECK(steps_of_rank(t, 4) == Steps{1, 2, 3, 4, 8, 9, 10, 11, 15, 16, 17});
  CHECK(steps_of_rank(t, 7) == Steps{0, 11, 18});
  for (std::size_t block = 1; block < 5; ++block) {
    CHECK(t.phases[block].parts == 4);
    CHECK(t.phases[block].first_step == 15);
    CHECK(t.phases[block].steps == 4);
  }
}

TEST_CASE("A merge tree with a late leaf: late up to the root, where lateness ends") {
  std::vector<std::int64_t> compute(16, ms);
  compute[6] = 50 * ms;
  const LogicalTime t = logical_time_of(merge_tree(16, 4, true, compute));
  const Phase& all = t.phases[0];
  const logical::PhaseSum sum = logical::sum_of(t, all);
  CHECK(sum.ranks.size() == 16);
  // Step 0: the leaf itself. Step 2: its receive by rank 4; step 4: rank 4's send.
  const auto steps = logical::steps_of(t, all);
  CHECK(steps[0].lateness.rank == 6);
  CHECK(steps[0].lateness.most_ns == 49 * ms);
  CHECK(steps[0].lateness.sum_ns == 49 * ms);
  CHECK(steps[0].sends == 12);
  CHECK(steps[2].lateness.rank == 4);
  CHECK(steps[4].lateness.rank == 4);
  CHECK(steps[4].lateness.most_ns > 48 * ms);
  // The root alone is in these, so nobody is late; then the messages of its results.
  for (const std::uint32_t s : {5u, 6u, 7u}) CHECK(steps[s].lateness.sum_ns == 0);
}

TEST_CASE("Merge trees at 1,024 ranks: the improved order needs fewer steps") {
  const LogicalTime original = logical_time_of(merge_tree(1024, 8, false));
  const LogicalTime improved = logical_time_of(merge_tree(1024, 8, true));
  const auto steps = [](const LogicalTime& t) {
    std::uint32_t all = 0;
    for (const Phase& p : t.phases) all = std::max(all, p.first_step + p.steps);
    return all;
  };
  CHECK(original.events.size() == improved.events.size());
  CHECK(steps(improved) < steps(original));
  // Two gather processes below the root: the last phase that all go through begins with the send of one of them.
  const Phase& last = original.phases.back();
  CHECK(last.parts == 1024);
  const std::vector<logical::StepSum> sums = logical::steps_of(original, last);
  CHECK(sums[0].sends == 1);
  CHECK(sums[1].receives == 1);
}

TEST_CASE("Near-neighbour exchange of 1,024 ranks: twelve steps an exchange, and a planted lateness") {
  const Grid grid{{8, 8, 16}};
  constexpr std::int32_t late = 3 + 8 * 3 + 64 * 7;
  const LogicalTime t = logical_time_of(
      exchange(grid, 4, [&](std::int32_t r, int i) { return ms + (r == late && i == 0 ? 20 * ms : 0); }));
  REQUIRE(t.phases.size() == 4);
  for (std::uint32_t i = 0; i < 4; ++i) {
    const Phase& p = t.phases[i];
    CHECK(p.parts == 1024);
    CHECK(p.first_step == 12 * i);
    REQUIRE(p.steps == 12);
    const std::vector<logical::StepSum> steps = logical::steps_of(t, p);
    for (std::uint32_t s = 0; s < 12; ++s) {  // those that have a neighbour there
      const std::uint32_t planes = s < 4 ? 7 * 8 * 16 : s < 8 ? 8 * 7 * 16 : 8 * 8 * 15;
      CHECK(steps[s].sends == (s % 2 == 0 ? planes : 0));
      CHECK(steps[s].receives == (s % 2 == 1 ? planes : 0));
    }
  }
  const std::vector<logical::StepSum> steps = logical::steps_of(t, t.phases[0]);
  // Step 0: its send alone. Step 1: its own receive, and that of its neighbour. In each of the next pairs it has
  // spread by one to both sides of the axis.
  const auto late_in = [&](std::uint32_t step) {
    int count = 0;
    const Phase& p = t.phases[0];
    for (const logical::Part& part : t.parts_of(p))
      for (std::uint32_t e = part.first; e < part.end; ++e)
        count += t.events[e].step == p.first_step + step && t.lateness(p, t.events[e]) > 19 * ms;
    return count;
  };
  CHECK(steps[0].lateness.rank == late);
  CHECK(steps[0].lateness.most_ns == 20 * ms);
  CHECK(late_in(0) == 1);
  CHECK(late_in(1) == 2);  // along x: 3, 4
  CHECK(late_in(3) == 3);  // and back: 2, 3, 4
  CHECK(late_in(5) == 6);  // along y
  CHECK(late_in(7) == 9);
  CHECK(late_in(9) == 18);  // along z
  CHECK(late_in(11) == 27);
  CHECK(logical::sum_of(t, t.phases[0]).lateness.rank == late);
}
