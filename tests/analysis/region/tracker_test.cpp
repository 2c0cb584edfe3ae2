#include "analysis/region/tracker.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "analysis/region/modularity.hpp"

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

TEST_CASE("regions keep their number while members move, and new ones get new numbers") {
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
  CHECK(third != first);
  CHECK(third != second);
  // Rank 3 moves over to the second: both keep their number.
  REQUIRE(tracker.update(groups(12, {{0, 1, 2}, {3, 4, 5, 6, 7}, {8, 9, 10, 11}}), {}, 1e-3));
  CHECK(id_of(tracker, 0) == first);
  CHECK(id_of(tracker, 3) == second);
  // The second splits: its larger part keeps the number, the other gets one never used before.
  REQUIRE(tracker.update(groups(12, {{0, 1, 2}, {3, 4}, {5, 6, 7}, {8, 9, 10, 11}}), {}, 1e-3));
  CHECK(id_of(tracker, 5) == second);
  const int fresh = id_of(tracker, 3);
  CHECK(fresh != first);
  CHECK(fresh != second);
  CHECK(fresh != third);
}

TEST_CASE("noise on a ring changes its regions only while that makes them better") {
  std::mt19937_64 random(4);
  RegionTracker tracker(16);
  std::vector<std::int32_t> old(16, -1);
  int changes = 0;
  for (int step = 0; step < 200; ++step) {
    std::vector<Link> links;
    for (int i = 0; i < 16; ++i) links.push_back({i, (i + 1) % 16, 1000.0 + static_cast<double>(random() % 10)});
    const CommunicationGraph ring(16, links);
    const bool changed = tracker.update(ring, {}, 1e-2);
    std::vector<std::int32_t> now;
    for (int rank = 0; rank < 16; ++rank) now.push_back(tracker.region_of(rank));
    INFO("step " << step);
    CHECK(changed == (now != old));
    if (changed && step > 0) REQUIRE(modularity(ring, now) > modularity(ring, old) + 1e-2);
    changes += changed;
    old = now;
  }
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
