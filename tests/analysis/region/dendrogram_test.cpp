// Other cuts through the tree that was kept, also when it comes from a damaged file.
#include "analysis/region/dendrogram.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "analysis/region/modularity.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/analysis/region/patterns.hpp"

using namespace pclscope;
using Labels = std::vector<std::int32_t>;

namespace {

// Ranks 0, 2, 4 talk, 0 and 2 most; 1 and 5 talk; 3 is silent.
CommunicationGraph two_parts() {
  return CommunicationGraph(6, std::vector<Link>{{0, 2, 50}, {2, 4, 5}, {4, 0, 5}, {1, 5, 3}});
}

Dendrogram tree_of(const CommunicationGraph& graph, const RegionOptions& options = {}) {
  Dendrogram tree;
  find_regions(graph, options, &tree);
  return tree;
}

}  // namespace

TEST_CASE("the tree is a forest: one tree per part, silent ranks in none") {
  const Dendrogram tree = tree_of(two_parts());
  REQUIRE(check(tree));
  CHECK(tree.leaf_of_rank == Labels{0, 1, 2, -1, 3, 4});
  REQUIRE(tree.merges.size() == 3);
  for (std::size_t k = 1; k < 3; ++k) CHECK(tree.merges[k].height >= tree.merges[k - 1].height);
  CHECK(cut_into(tree, 5)->region_of_rank == Labels{0, 1, 2, -1, 3, 4});
  CHECK(cut_into(tree, 2)->region_of_rank == Labels{0, 1, 0, -1, 0, 1});
  CHECK(cut_into(tree, 1)->regions == 2);  // never fewer than parts
  CHECK(cut_into(tree, 100)->regions == 5);
  CHECK(cut_into(tree, std::numeric_limits<std::int32_t>::min())->regions == 2);
  CHECK(cut_at(tree, -1)->regions == 5);
  CHECK(cut_at(tree, std::numeric_limits<double>::infinity())->regions == 2);
  CHECK(cut_at(tree, tree.merges[1].height)->regions == 3);
  CHECK(cut_at(tree, std::numeric_limits<double>::quiet_NaN()).error().code == ErrorCode::bad_argument);
}

TEST_CASE("the best cut of the kept tree is the regions, whatever the graph") {
  std::mt19937_64 random(61);
  for (int trial = 0; trial < 30; ++trial) {
    const int n = 3 + static_cast<int>(random() % 40);
    const CommunicationGraph graph = test::random_connected(n, random);
    for (const int limit : {1024, 16})
      for (const RegionMethod method : {RegionMethod::free_energy, RegionMethod::correlation}) {
        RegionOptions options{1.0, limit, method};
        Dendrogram tree;
        const Partition found = find_regions(graph, options, &tree);
        INFO("trial " << trial << ", n " << n << ", limit " << limit << ", " << name_of(method));
        REQUIRE(check(tree));
        REQUIRE(tree.merges.size() + 1 == static_cast<std::size_t>(leaves_of(tree)));
        const Result<Partition> best = cut_best(tree, graph);
        REQUIRE(best);
        REQUIRE(best->modularity == Approx(found.modularity).margin(1e-9));
        for (int k = 1; k <= n; k += 3) {
          const Result<Partition> cut = cut_into(tree, k);
          REQUIRE(cut);
          REQUIRE(cut->regions == std::min(k, leaves_of(tree)));
          REQUIRE(modularity(graph, cut->region_of_rank) <= found.modularity + 1e-9);
        }
      }
  }
}

TEST_CASE("CG cut into more regions than rows splits rows, into fewer joins them") {
  const Dendrogram tree = tree_of(test::cg(16, 16));
  const Partition rows = *cut_into(tree, 16), halves = *cut_into(tree, 32), pairs = *cut_into(tree, 8);
  CHECK(rows.regions == 16);
  for (int rank = 0; rank < 256; ++rank) REQUIRE(rows.region_of_rank[rank] == rank / 16);
  const auto refines = [](const Partition& fine, const Partition& coarse) {
    std::map<std::int32_t, std::int32_t> of;
    bool ok = true;
    for (std::size_t i = 0; i < fine.region_of_rank.size(); ++i)
      ok = ok &&
           of.try_emplace(fine.region_of_rank[i], coarse.region_of_rank[i]).first->second == coarse.region_of_rank[i];
    return ok;
  };
  CHECK(refines(halves, rows));
  CHECK(refines(rows, pairs));
}

TEST_CASE("damaged trees are told, not followed") {
  const Dendrogram good = tree_of(test::cg(4, 8));
  const CommunicationGraph graph = test::cg(4, 8);
  const auto broken = [&](auto damage) {
    Dendrogram tree = good;
    damage(tree);
    return !cut_at(tree, 1) && !cut_into(tree, 4) && !cut_best(tree, graph) &&
           cut_into(tree, 4).error().code == ErrorCode::damaged;
  };
  CHECK_FALSE(broken([](Dendrogram&) {}));
  CHECK(broken([](Dendrogram& t) { t.merges[3].left = 1000000; }));
  CHECK(broken([](Dendrogram& t) { t.merges[3].right = -5; }));
  CHECK(broken([](Dendrogram& t) { t.merges[5] = t.merges[4]; }));
  CHECK(broken([](Dendrogram& t) { t.merges[0].left = t.merges[0].right; }));
  CHECK(broken([](Dendrogram& t) { t.merges[0].left = 60; }));  // made later
  CHECK(broken([](Dendrogram& t) { t.merges[2].height = std::numeric_limits<double>::quiet_NaN(); }));
  CHECK(broken([](Dendrogram& t) { t.merges.front().height = 1e9; }));
  CHECK(broken([](Dendrogram& t) { t.leaf_of_rank[7] = 99; }));
  CHECK(broken([](Dendrogram& t) { t.leaf_of_rank[7] = -2; }));
  CHECK(broken([](Dendrogram& t) { t.leaf_of_rank[7] = 6; }));  // leaf 7 has no rank now
  CHECK(broken([](Dendrogram& t) { t.leaf_of_rank.resize(3); }));
  CHECK(broken([](Dendrogram& t) { t.merges.resize(t.merges.size() + 5); }));
  // Without a tree there is nothing to cut, and nothing to complain about.
  CHECK(cut_into(Dendrogram{}, 3)->regions == 0);
  CHECK(cut_best(good, test::cg(4, 4)).error().code == ErrorCode::bad_argument);
}

TEST_CASE("random bytes in the place of a tree never crash") {
  std::mt19937_64 random(62);
  const CommunicationGraph graph = test::cg(4, 4);
  const Dendrogram good = tree_of(graph);
  int accepted = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    Dendrogram tree = good;
    for (int k = static_cast<int>(random() % 4); k >= 0; --k) {
      const std::size_t at = random() % tree.merges.size();
      const auto value = static_cast<std::int32_t>(random() % 40) - 4;
      switch (random() % 5) {
        case 0: tree.merges[at].left = value; break;
        case 1: tree.merges[at].right = value; break;
        case 2: tree.merges[at].height = value; break;
        case 3: tree.leaf_of_rank[random() % 16] = value; break;
        default: tree.merges.resize(1 + random() % 20);
      }
    }
    const Result<Partition> cut = cut_best(tree, graph);
    if (!cut) continue;
    ++accepted;
    REQUIRE(cut->regions <= 16);
    REQUIRE(std::isfinite(cut->modularity));
  }
  CHECK(accepted > 0);
}
