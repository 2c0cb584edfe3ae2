// Deadlocks between ranks of several nodes, from what their nodes tell.
#include "analysis/blocked/across.hpp"

#include <catch2/catch.hpp>
#include <random>

namespace pclscope::test {
namespace {

using blocked::Across;
using nodes::RankWait;
constexpr std::int64_t second = 1'000'000'000;

// A blocked rank of node rank % 2, in its call since 10 s.
RankWait blocked_rank(std::int32_t rank, std::int64_t looked_ns = 12 * second) {
  RankWait w;
  w.blocked = w.all_taken_known = true;
  w.node = rank % 2;
  w.since_ns = 10 * second;
  w.looked_ns = looked_ns;
  w.read_ns = looked_ns - second / 2;
  return w;
}
RankWait receives(std::int32_t rank, std::int32_t source, std::int64_t looked_ns = 12 * second) {
  RankWait w = blocked_rank(rank, looked_ns);
  w.receives = {{source, 2, 1}};
  w.takes = w.receives;
  return w;
}
RankWait sends(std::int32_t rank, std::int32_t to, std::int64_t looked_ns = 12 * second) {
  RankWait w = blocked_rank(rank, looked_ns);
  w.sends = w.sending = {{to, 2, 1}};
  return w;
}

std::vector<std::vector<std::int32_t>> cycles(const Across& across) {
  std::vector<std::vector<std::int32_t>> out;
  for (const Across::Found& found : across.find()) {
    out.emplace_back();
    for (const Across::Member& m : found.members) out.back().push_back(m.rank);
  }
  return out;
}
using Cycles = std::vector<std::vector<std::int32_t>>;

// Told twice, half a second apart.
Cycles standing(std::vector<RankWait> waits) {
  Across across(static_cast<std::int32_t>(waits.size()));
  for (int time = 0; time < 2; ++time)
    for (std::size_t r = 0; r < waits.size(); ++r) {
      across.take(static_cast<std::int32_t>(r), waits[r]);
      if (waits[r].blocked) waits[r].looked_ns += second / 2;
      if (waits[r].blocked) waits[r].read_ns += second / 2;
    }
  return cycles(across);
}

TEST_CASE("a cycle over two nodes is told when it was seen to stand still") {
  Across across(2);
  across.take(0, receives(0, 1, 12 * second));
  across.take(1, receives(1, 0, 12 * second));
  CHECK(cycles(across).empty());  // nobody knows who moved between the two looks
  across.take(0, receives(0, 1, 13 * second));
  CHECK(cycles(across).empty());
  across.take(1, receives(1, 0, 13 * second));
  CHECK(cycles(across) == Cycles{{0, 1}});
  CHECK(across.find()[0].members[0].waits_for.ranks == std::vector<std::int32_t>{1});
  RankWait moved = receives(1, 0, 14 * second);
  moved.since_ns = 13 * second + second / 2;
  across.take(1, moved);
  CHECK(cycles(across).empty());
  across.take(1, {});
  CHECK(cycles(across).empty());
}

TEST_CASE("what was sent before must have been read on the other node") {
  RankWait a = receives(0, 1), b = receives(1, 0);
  CHECK(standing({a, b}) == Cycles{{0, 1}});
  b.read_ns = 9 * second;
  CHECK(standing({a, b}).empty());
}

TEST_CASE("on one node it is that node's") {
  RankWait a = receives(0, 1), b = receives(1, 0);
  b.node = 0;
  CHECK(standing({a, b}).empty());
}

TEST_CASE("sends across nodes") {
  CHECK(standing({sends(0, 1), sends(1, 0)}) == Cycles{{0, 1}});
  CHECK(standing({sends(0, 1), receives(1, 0)}).empty());  // on its way
  RankWait other = receives(1, 0);
  other.receives[0].tag = other.takes[0].tag = 3;
  CHECK(standing({sends(0, 1), other}) == Cycles{{0, 1}});
  RankWait posted = sends(1, 0);
  posted.takes = {{-1, -1, 1}};
  CHECK(standing({sends(0, 1), posted}).empty());
  RankWait unknown = sends(1, 0);
  unknown.all_taken_known = false;
  CHECK(standing({sends(0, 1), unknown}).empty());
}

TEST_CASE("receives from anybody need all ranks to be stuck") {
  CHECK(standing({receives(0, -1), receives(1, -1), receives(2, 0)}) == Cycles{{0, 1, 2}});
  CHECK(standing({receives(0, -1), receives(1, -1), {}}).empty());
}

TEST_CASE("collectives across nodes wait for who has not begun them") {
  const auto in_barrier = [](std::int32_t rank, bool every) {
    RankWait w = blocked_rank(rank);
    w.collectives = {{1, 4, every}};
    w.begun = {{1, 3, 5}};
    return w;
  };
  RankWait late = receives(1, 0);
  late.begun = {{1, 3, 4}};
  CHECK(standing({in_barrier(0, true), late, in_barrier(2, true)}) == Cycles{{0, 1}});
  CHECK(standing({in_barrier(0, true), late, {}}) == Cycles{{0, 1}});
  CHECK(standing({in_barrier(0, false), late, {}}).empty());  // who of them is missing is not known
  CHECK(standing({in_barrier(0, false), late, in_barrier(2, false)}) == Cycles{{0, 1}});
  late.begun[0].count = 5;
  CHECK(standing({in_barrier(0, true), late, in_barrier(2, true)}).empty());
}

// Oracle: ranks run a random program of sends (synchronous) and receives over two nodes with simple rules; nobody who
// can still move may be in a cycle that is told.
TEST_CASE("nothing that can go on is told") {
  const unsigned seed = 20261124;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int told = 0;
  for (int round = 0; round < 3000; ++round) {
    const int ranks = 2 + static_cast<int>(random() % 5);
    std::vector<RankWait> waits;
    struct Call {
      bool sends;
      int peer, tag;
    };
    std::vector<Call> calls;
    for (int r = 0; r < ranks; ++r) {
      const int peer = (r + 1 + static_cast<int>(random() % static_cast<unsigned>(ranks - 1))) % ranks;
      calls.push_back({random() % 2 == 0, peer, static_cast<int>(random() % 2)});
      RankWait w = calls[static_cast<std::size_t>(r)].sends ? sends(r, peer) : receives(r, peer);
      for (auto* list : {&w.sends, &w.sending, &w.receives, &w.takes})
        for (auto& p : *list) p.tag = calls.back().tag;
      if (random() % 5 == 0) w = {};  // computes
      waits.push_back(w);
    }
    // Who can move: those that compute, those that meet, and by and by those who wait for one that can.
    std::vector<char> moves(static_cast<std::size_t>(ranks), 0);
    for (bool more = true; more;) {
      more = false;
      for (int r = 0; r < ranks; ++r) {
        const auto at = static_cast<std::size_t>(r);
        const Call& mine = calls[at];
        const Call& other = calls[static_cast<std::size_t>(mine.peer)];
        const bool meet = waits[static_cast<std::size_t>(mine.peer)].blocked && other.peer == r &&
                          other.sends != mine.sends && other.tag == mine.tag;
        const bool can = !waits[at].blocked || meet || moves[static_cast<std::size_t>(mine.peer)];
        more = more || (can && !moves[at]);
        moves[at] = can;
      }
    }
    for (const auto& cycle : standing(waits)) {
      ++told;
      for (const std::int32_t rank : cycle) CHECK(!moves[static_cast<std::size_t>(rank)]);
    }
  }
  CHECK(told > 100);
}

}  // namespace
}  // namespace pclscope::test
