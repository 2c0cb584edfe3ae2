// Knots in graphs drawn by hand, and against a simulation of all ways in which ranks could go on.
#include "analysis/blocked/wait_graph.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <set>

using namespace pclscope::blocked;
using Ranks = std::vector<std::int32_t>;

namespace {

struct Drawing {
  WaitGraph graph;
  explicit Drawing(int ranks) {
    graph.ranks = ranks;
    graph.finished.assign(static_cast<std::size_t>(ranks), 0);
  }
  // `rank` needs one of each of these sets.
  Drawing& waits(std::int32_t rank, const std::vector<Ranks>& sets) {
    Waiter w;
    w.rank = rank;
    for (const Ranks& set : sets) {
      w.needs.push_back(static_cast<std::uint32_t>(graph.sets.size()));
      graph.sets.push_back(set);
    }
    graph.waiters.push_back(w);
    std::stable_sort(graph.waiters.begin(), graph.waiters.end(),
                     [](const Waiter& a, const Waiter& b) { return a.rank < b.rank; });
    return *this;
  }
  Drawing& finished(std::int32_t rank) {
    graph.finished[static_cast<std::size_t>(rank)] = 1;
    return *this;
  }
  std::vector<Ranks> cycles() const {
    std::vector<Ranks> out;
    for (const Knot& k : find_knots(graph))
      if (!k.on_finished) out.push_back(k.ranks);
    return out;
  }
  Ranks left_behind() const {
    Ranks out;
    for (const Knot& k : find_knots(graph))
      if (k.on_finished) out.insert(out.end(), k.ranks.begin(), k.ranks.end());
    return out;
  }
};

using Cycles = std::vector<Ranks>;

// Can `rank` ever go on? Tries every order of releases: a set of ranks that may go on grows by any one that is free.
// Written against the definition, with none of the code under test: subsets as bit masks, every subset reachable.
std::uint32_t all_that_may_go_on(const WaitGraph& g) {
  std::uint32_t start = 0;
  for (int r = 0; r < g.ranks; ++r) {
    const bool waits = std::any_of(g.waiters.begin(), g.waiters.end(), [&](const Waiter& w) { return w.rank == r; });
    if (!waits && !g.finished[static_cast<std::size_t>(r)]) start |= 1u << r;
  }
  std::set<std::uint32_t> seen{start};
  std::vector<std::uint32_t> open{start};
  std::uint32_t all = start;
  while (!open.empty()) {
    const std::uint32_t now = open.back();
    open.pop_back();
    all |= now;
    for (const Waiter& w : g.waiters) {
      if (now >> w.rank & 1 || g.finished[static_cast<std::size_t>(w.rank)]) continue;
      const bool free = std::all_of(w.needs.begin(), w.needs.end(), [&](std::uint32_t s) {
        return std::any_of(g.sets[s].begin(), g.sets[s].end(), [&](std::int32_t r) { return now >> r & 1; });
      });
      if (free && seen.insert(now | 1u << w.rank).second) open.push_back(now | 1u << w.rank);
    }
  }
  return all;
}

// Nobody in `ranks` could go on even if everybody else (but the finished) could.
bool stuck_among_themselves(const WaitGraph& g, const Ranks& ranks) {
  WaitGraph alone = g;
  std::erase_if(alone.waiters,
                [&](const Waiter& w) { return std::find(ranks.begin(), ranks.end(), w.rank) == ranks.end(); });
  const std::uint32_t free = all_that_may_go_on(alone);
  return std::none_of(ranks.begin(), ranks.end(), [&](std::int32_t r) { return free >> r & 1; });
}

WaitGraph random_graph(std::mt19937& random, int ranks) {
  Drawing d(ranks);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int r = 0; r < ranks; ++r) {
    if (below(8) == 0) {
      d.finished(r);
      continue;
    }
    for (int waiters = below(10) == 0 ? 2 : below(6) == 0 ? 0 : 1; waiters > 0; --waiters) {
      std::vector<Ranks> sets;
      for (int n = below(4) == 0 ? below(4) : 1; n > 0; --n) {
        std::set<std::int32_t> set;
        for (int k = below(3) == 0 ? 1 + below(3) : 1; k > 0; --k) set.insert(below(static_cast<unsigned>(ranks)));
        sets.emplace_back(set.begin(), set.end());
      }
      d.waits(r, sets);
    }
  }
  return d.graph;
}

}  // namespace

TEST_CASE("a cycle is found and named from its lowest rank") {
  CHECK(Drawing(4).waits(0, {{1}}).waits(1, {{2}}).waits(2, {{3}}).waits(3, {{0}}).cycles() == Cycles{{0, 1, 2, 3}});
  CHECK(Drawing(4).waits(0, {{2}}).waits(2, {{1}}).waits(1, {{3}}).waits(3, {{0}}).cycles() == Cycles{{0, 2, 1, 3}});
  CHECK(Drawing(2).waits(1, {{1}}).cycles() == Cycles{{1}});
}

TEST_CASE("a chain that ends at somebody who computes is none") {
  CHECK(Drawing(4).waits(0, {{1}}).waits(1, {{2}}).waits(2, {{3}}).cycles().empty());
  CHECK(Drawing(3).waits(0, {{1}}).waits(1, {{0}}).waits(1, {{2}}).cycles().empty());  // another thread of 1
  CHECK(Drawing(2).waits(0, {{1}}).waits(1, {}).cycles().empty());                     // 1 needs nothing
}

TEST_CASE("ranks that wait for a cycle are not in it") {
  CHECK(Drawing(4).waits(0, {{1}}).waits(1, {{0}}).waits(2, {{1}}).waits(3, {{2}}).cycles() == Cycles{{0, 1}});
}

TEST_CASE("one stuck need suffices, but all alternatives must be stuck") {
  CHECK(Drawing(3).waits(0, {{1}, {2}}).waits(1, {{0}}).cycles() == Cycles{{0, 1}});
  CHECK(Drawing(3).waits(0, {{1, 2}}).waits(1, {{0}}).cycles().empty());
  CHECK(Drawing(3).waits(0, {{1, 2}}).waits(1, {{0}}).waits(2, {{0}}).cycles() == Cycles{{0, 1, 2}});
  CHECK(Drawing(3).waits(0, {{0, 1, 2}}).waits(1, {{0, 1, 2}}).waits(2, {{0, 1, 2}}).cycles() == Cycles{{0, 1, 2}});
}

TEST_CASE("two cycles are two deadlocks, also when a member of one waits for the other") {
  CHECK(Drawing(4).waits(0, {{1}}).waits(1, {{0}}).waits(2, {{3}}).waits(3, {{2}}).cycles() == Cycles{{0, 1}, {2, 3}});
  CHECK(Drawing(4).waits(0, {{1}, {2}}).waits(1, {{0}}).waits(2, {{3}}).waits(3, {{2}}).cycles() ==
        Cycles{{0, 1}, {2, 3}});
  // By an alternative it only hangs behind.
  CHECK(Drawing(4).waits(0, {{1, 2}}).waits(1, {{0}}).waits(2, {{3}}).waits(3, {{2}}).cycles() == Cycles{{2, 3}});
}

TEST_CASE("neighbours on a ring that wait for both sides are one deadlock, in ring order") {
  Drawing d(6);
  for (int r = 0; r < 6; ++r) d.waits(r, {{(r + 1) % 6}, {(r + 5) % 6}});
  CHECK(d.cycles() == Cycles{{0, 1, 2, 3, 4, 5}});
}

TEST_CASE("waiting for finished ranks is told apart, once for all") {
  const Drawing d = Drawing(4).finished(3).waits(0, {{3}}).waits(1, {{3}}).waits(2, {{0}});
  CHECK(d.cycles().empty());
  CHECK(d.left_behind() == Ranks{0, 1});
  CHECK(Drawing(2).finished(1).waits(0, {{0, 1}}).left_behind() == Ranks{0});
  CHECK(Drawing(3).finished(2).waits(0, {{1, 2}}).left_behind().empty());
}

TEST_CASE("random graphs: who is stuck is who no order of releases frees") {
  const auto seed = GENERATE(1u, 2u, 3u, 4u);
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int knots = 0, freed = 0;
  for (int round = 0; round < 3000; ++round) {
    const WaitGraph g = random_graph(random, 2 + static_cast<int>(random() % 7));
    INFO("round " << round);
    const std::uint32_t free = all_that_may_go_on(g);
    const std::vector<char> stuck = stuck_waiters(g);
    for (std::size_t w = 0; w < g.waiters.size(); ++w) {
      const int r = g.waiters[w].rank;
      if (g.finished[static_cast<std::size_t>(r)]) continue;
      REQUIRE((stuck[w] != 0) == !(free >> r & 1));
      freed += !stuck[w];
    }
    // Every knot holds by itself; whoever is stuck is in one or waits, in the end, for one.
    std::set<std::int32_t> in_knots;
    for (const Knot& k : find_knots(g)) {
      ++knots;
      REQUIRE(!k.ranks.empty());
      for (const std::int32_t r : k.ranks) REQUIRE(in_knots.insert(r).second);
      REQUIRE(stuck_among_themselves(g, k.ranks));
      if (!k.on_finished) REQUIRE(k.ranks[0] == *std::min_element(k.ranks.begin(), k.ranks.end()));
    }
    REQUIRE(in_knots.empty() == std::none_of(stuck.begin(), stuck.end(), [](char s) { return s != 0; }));
    // Without the knots' waiters (as if they were untied) nobody is stuck.
    WaitGraph untied = g;
    std::erase_if(untied.waiters, [&](const Waiter& w) { return in_knots.contains(w.rank); });
    if (std::none_of(g.finished.begin(), g.finished.end(), [](char f) { return f != 0; }))
      REQUIRE(find_knots(untied).empty());
  }
  CHECK(knots > 100);
  CHECK(freed > 100);
}

TEST_CASE("four thousand ranks that all wait for anybody take no time worth mentioning") {
  Drawing d(4096);
  Ranks everybody(4096);
  std::iota(everybody.begin(), everybody.end(), 0);
  d.graph.sets.push_back(everybody);
  for (int r = 0; r < 4096; ++r) d.graph.waiters.push_back({r, {0}});
  CHECK(d.cycles().at(0).size() == 4096);
}
