#include "analysis/region/tracker.hpp"

#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "analysis/region/modularity.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;

namespace {

// Groups of ranks that talk all to all, and weak links between neighbouring groups.
CommunicationGraph groups(int ranks, const std::vector<std::vector<int>>& members, double between = 0.01) {
  std::vector<Link> links;
  for (std::size_t g = 0; g < members.size(); ++g) {
    for (const int a : members[g])
      for (const int b : members[g])
        if (a < b) links.push_back({a, b, 10.0});
    if (g > 0) links.push_back({members[g - 1][0], members[g][0], between});
  }
  return CommunicationGraph(ranks, links);
}

int id_of(const RegionTracker& tracker, int rank) { return tracker.regions()[tracker.region_of(rank)].id; }

}  // namespace

TEST_CASE("a region keeps its number with its ranks; other ranks have numbers never used before") {
  RegionTracker tracker(12);
  REQUIRE(tracker.update(groups(12, {{0, 1, 2, 3}, {4, 5, 6, 7}}), {}, 1e-3));
  REQUIRE(tracker.regions().size() == 2);
  const int first = id_of(tracker, 0), second = id_of(tracker, 4);
  CHECK(tracker.region_of(8) == -1);
  // 8..11 turn up: two old numbers stay, the third is new.
  REQUIRE(tracker.update(groups(12, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}), {}, 1e-3));
  CHECK(id_of(tracker, 0) == first);
  CHECK(id_of(tracker, 4) == second);
  const int third = id_of(tracker, 8);
  CHECK(third > second);
  // Rank 3 moves over to the second: two new numbers.
  REQUIRE(tracker.update(groups(12, {{0, 1, 2}, {3, 4, 5, 6, 7}, {8, 9, 10, 11}}), {}, 1e-3));
  CHECK(id_of(tracker, 8) == third);
  CHECK(id_of(tracker, 0) > third);
  CHECK(id_of(tracker, 3) > id_of(tracker, 0));
}

TEST_CASE("numbers never change their ranks, whatever partitions follow each other") {
  std::mt19937_64 random(12);
  std::map<std::int32_t, std::vector<std::int32_t>> known;
  RegionTracker tracker(24);
  const int steps = test::thinned(60, 15);
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<int>> members(2 + random() % 4);
    for (int rank = 0; rank < 24; ++rank)
      if (random() % 20 > 0) members[random() % members.size()].push_back(rank);
    std::erase_if(members, [](const auto& group) { return group.empty(); });
    tracker.update(groups(24, members), {}, 1e-3);
    std::int32_t last = -1;
    for (const TrackedRegion& r : tracker.regions()) {
      CHECK(known.try_emplace(r.id, r.ranks).first->second == r.ranks);
      CHECK(r.ranks.front() > last);  // by smallest rank
      last = r.ranks.front();
      for (const std::int32_t rank : r.ranks) CHECK(tracker.regions()[tracker.region_of(rank)].id == r.id);
    }
  }
  CHECK(known.size() > static_cast<std::size_t>(steps) * 2 / 3);
}

TEST_CASE("regions are one where they are no better than chance, and stay while in doubt") {
  std::vector<Link> ring;
  for (int i = 0; i < 16; ++i) ring.push_back({i, (i + 1) % 16, 100.0});
  RegionTracker tracker(16);
  REQUIRE(tracker.update(CommunicationGraph(16, ring), {}, 1e-3));
  CHECK(tracker.regions().size() == 1);
  CHECK(tracker.modularity() == Approx(0).margin(1e-12));
  CHECK(tracker.chance_modularity() > 0.4);
  // Groups of four, then a ring again: they are given up.
  REQUIRE(tracker.update(groups(16, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}), {}, 1e-3));
  CHECK(tracker.regions().size() == 4);
  REQUIRE(tracker.update(CommunicationGraph(16, ring), {}, 1e-3));
  CHECK(tracker.regions().size() == 1);
}

TEST_CASE("noise on a grid changes its regions only while that makes them better") {
  std::mt19937_64 random(4);
  RegionTracker tracker(64);
  std::vector<std::int32_t> old(64, -1);
  int changes = 0;
  for (int step = 0; step < test::thinned(60); ++step) {
    std::vector<Link> links;
    for (int i = 0; i < 64; ++i) {
      if (i % 8 < 7) links.push_back({i, i + 1, 1000.0 + static_cast<double>(random() % 10)});
      if (i < 56) links.push_back({i, i + 8, 1000.0 + static_cast<double>(random() % 10)});
    }
    const CommunicationGraph grid(64, links);
    const bool changed = tracker.update(grid, {}, 1e-2);
    std::vector<std::int32_t> now;
    for (int rank = 0; rank < 64; ++rank) now.push_back(tracker.region_of(rank));
    INFO("step " << step);
    CHECK(changed == (now != old));
    if (changed && step > 0) REQUIRE(modularity(grid, now) > modularity(grid, old) + 1e-2);
    changes += changed;
    old = now;
  }
  CHECK(tracker.regions().size() > 1);
  CHECK(changes >= 1);
  CHECK(changes < 10);
}

TEST_CASE("the tracker has the tree, method and modularity of the regions it shows") {
  const CommunicationGraph graph = groups(12, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}});
  RegionTracker tracker(12);
  CHECK(tracker.dendrogram().method.empty());
  REQUIRE(tracker.update(graph, {}, 1e-3));
  CHECK(tracker.method() == RegionMethod::free_energy);
  CHECK(tracker.dendrogram().method == "free-energy");
  CHECK(tracker.dendrogram().merges.size() == 11);
  std::vector<std::int32_t> label;
  for (int rank = 0; rank < 12; ++rank) label.push_back(tracker.region_of(rank));
  CHECK(tracker.modularity() == Approx(modularity(graph, label)).margin(1e-12));
  // Not adopted: the tree stays, the modularity is that of the old regions on the new graph.
  const CommunicationGraph other = groups(12, {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}}, 3.0);
  CHECK_FALSE(tracker.update(other, {}, 1.0));
  CHECK(tracker.modularity() == Approx(modularity(other, label)).margin(1e-12));
  // Another method is adopted whatever its modularity.
  RegionOptions paper;
  paper.method = RegionMethod::paper;
  paper.threshold = 0;
  REQUIRE(tracker.update(graph, paper, 1.0));
  CHECK(tracker.method() == RegionMethod::paper);
  CHECK(tracker.dendrogram().method == "paper");
  CHECK(tracker.regions().size() == 12);
}
