// The tree of nodes and the reports that go up in it, on random trees with deaths.
#include "analysis/nodes/report_tree.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace pclscope::nodes;

TEST_CASE("trees: every living node has one parent, which knows it as its child, whoever died") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const int nodes = 1 + static_cast<int>(random() % 150);
    std::vector<Tree> trees;
    for (int i = 0; i < nodes; ++i) trees.emplace_back(i, nodes);
    for (int deaths = static_cast<int>(random() % 10); deaths > 0 && nodes > 1; --deaths) {
      const int dead = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(nodes - 1));
      for (Tree& tree : trees) tree.died(dead);
    }
    std::vector<int> parents(static_cast<std::size_t>(nodes), -1);
    for (int i = 0; i < nodes; ++i) {
      if (trees[0].is_dead(i)) continue;
      for (const int child : trees[static_cast<std::size_t>(i)].children()) {
        REQUIRE_FALSE(trees[0].is_dead(child));
        REQUIRE(parents[static_cast<std::size_t>(child)] == -1);
        parents[static_cast<std::size_t>(child)] = i;
      }
    }
    for (int i = 0; i < nodes; ++i) {
      if (trees[0].is_dead(i)) continue;
      REQUIRE(trees[static_cast<std::size_t>(i)].parent() == parents[static_cast<std::size_t>(i)]);
      int steps = 0;
      for (int up = i; up > 0; up = parents[static_cast<std::size_t>(up)]) REQUIRE(++steps <= trees[0].depth());
    }
  }
}

TEST_CASE("reports: nothing is lost or counted twice, and windows go on once, complete and in order") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    ReportTree tree(0, 5);
    std::vector<std::int64_t> closed(5, 0);
    std::uint64_t given = 0, taken = 0, given_windows = 0, taken_windows = 0;
    std::int64_t last = -1, now = 0;
    const auto take = [&] {
      Report up;
      if (!tree.take(up, now++)) return;
      taken += up.totals.matched;
      for (const WindowPart& w : up.windows) {
        REQUIRE(w.begin_ns > last);
        REQUIRE(w.begin_ns < *std::min_element(closed.begin(), closed.end()));
        last = w.begin_ns;
        taken_windows += w.all.messages;
      }
    };
    const auto give = [&](int node, std::int64_t windows) {
      Report report;
      report.totals.matched = random() % 100;
      given += report.totals.matched;
      std::int64_t& at = closed[static_cast<std::size_t>(node)];
      for (std::int64_t end = at + windows; at < end; ++at) {
        WindowPart part;
        part.begin_ns = at;
        part.all.messages = 1 + random() % 9;
        given_windows += part.all.messages;
        report.windows.push_back(part);
      }
      report.closed_through_ns = at;
      node == 0 ? tree.add_own(std::move(report)) : tree.add_child(node, std::move(report));
    };
    for (int i = 0; i < 200; ++i) {
      give(static_cast<int>(random() % 5), static_cast<std::int64_t>(random() % 4));
      if (random() % 3 == 0) take();
    }
    const std::int64_t end = *std::max_element(closed.begin(), closed.end());
    for (int node = 0; node < 5; ++node) give(node, end - closed[static_cast<std::size_t>(node)]);
    take();
    REQUIRE(taken == given);
    REQUIRE(taken_windows == given_windows);
    REQUIRE(last == end - 1);
  }
}
