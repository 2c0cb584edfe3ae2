// Planted groups are found wherever they are what modularity asks for, dense and coarsened, whatever the ranks are
// called.
#include <catch2/catch.hpp>

#include "analysis/region/dendrogram.hpp"
#include "analysis/region/find_regions.hpp"
#include "analysis/region/modularity.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/analysis/region/patterns.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using test::adjusted_rand;
using test::same;
using Labels = std::vector<std::int32_t>;

namespace {

struct Planted {
  int ranks = 0;
  std::vector<Link> links;
  Labels truth;
};

// Each rank has about `partners` partners, a share `mixing` of them outside its group.
Planted planted(int groups, int size, double partners, double mixing, std::mt19937_64& random) {
  Planted p{groups * size, {}, {}};
  const double inside = std::min(1.0, partners * (1 - mixing) / (size - 1));
  const double outside = partners * mixing / (p.ranks - size);
  for (int i = 0; i < p.ranks; ++i) {
    p.truth.push_back(i / size);
    for (int j = 0; j < i; ++j) {
      const double chance = static_cast<double>(random() >> 11) * 0x1p-53;
      if (chance < (i / size == j / size ? inside : outside))
        p.links.push_back({i, j, 100.0 + static_cast<double>(random() % 50)});
    }
  }
  return p;
}

RegionOptions limited(std::int32_t dense_limit) {
  RegionOptions options;
  options.dense_limit = dense_limit;
  return options;
}

}  // namespace

TEST_CASE("planted partitions of 4 to 64 groups are found where they are the modularity optimum") {
  constexpr unsigned seed = 51;
  std::mt19937_64 random(seed);
  int optimal = 0, all = 0;
  // Time goes with the cube of the ranks.
  const std::vector<int> sizes = test::under_sanitizer ? std::vector{4, 8} : std::vector{4, 8, 16, 32, 64};
  for (const int groups : sizes)
    for (const double partners : {8.0, 16.0, 32.0})
      for (const double mixing : {0.1, 0.2, 0.3, 0.4, 0.5}) {
        const Planted p = planted(groups, groups == 64 ? 10 : 14, partners, mixing, random);
        const CommunicationGraph graph(p.ranks, p.links);
        const double of_truth = modularity(graph, p.truth);
        // Dense, and with the ranks of the component contracted to a quarter or less.
        double best = -1;
        std::vector<Partition> found;
        for (const int limit : {4096, p.ranks / 2}) {
          found.push_back(find_regions(graph, limited(limit)));
          best = std::max(best, found.back().modularity);
        }
        INFO("seed " << seed << ": " << groups << " groups, " << partners << " partners, mixing " << mixing);
        // Never worse than what was planted; and the same, unless something better was found.
        for (const Partition& f : found) REQUIRE(f.modularity >= of_truth - 1e-9);
        ++all;
        if (best > of_truth + 1e-9) continue;
        ++optimal;
        for (const Partition& f : found) REQUIRE(adjusted_rand(f.region_of_rank, p.truth) >= 0.99);
      }
  CHECK(all == static_cast<int>(sizes.size()) * 15);
  CHECK(optimal >= all / 3);  // the others are too noisy, or groups so small that modularity joins them
}

TEST_CASE("coarsened regions are those of the dense clustering: planted groups, CG") {
  std::mt19937_64 random(52);
  double sum = 0;
  const int trials = test::thinned(10);
  for (int trial = 0; trial < trials; ++trial) {
    const Planted p = planted(10, 40, 16, 0.2 + 0.02 * trial, random);
    const CommunicationGraph graph(p.ranks, p.links);
    const Partition dense = find_regions(graph), coarse = find_regions(graph, limited(100));
    sum += adjusted_rand(dense.region_of_rank, coarse.region_of_rank);
  }
  CHECK(sum / trials >= 0.99);
  for (const auto& [rows, columns] : {std::pair{16, 32}, std::pair{16, 16}})
    for (const int limit : {256, 128, 40}) {
      if (test::under_sanitizer && rows * columns > 256) continue;
      INFO("CG " << rows << "x" << columns << ", limit " << limit);
      if (limit >= rows * columns) continue;
      CHECK(find_regions(test::cg(rows, columns), limited(limit)).region_of_rank ==
            find_regions(test::cg(rows, columns)).region_of_rank);
    }
}

TEST_CASE("random relabelling of ranks does not change the regions: CG, planted groups, halos with uneven counts") {
  std::mt19937_64 random(53);
  struct Case {
    const char* name;
    int ranks;
    std::vector<Link> links;
  };
  std::vector<Case> cases;
  cases.push_back({"CG 16x32", 512, test::cg_links(16, 32)});
  cases.push_back({"CG 16x16", 256, test::cg_links(16, 16)});
  const Planted clear = planted(12, 20, 12, 0.2, random), noisy = planted(12, 20, 8, 0.5, random);
  cases.push_back({"planted", clear.ranks, clear.links});
  cases.push_back({"planted, mixed", noisy.ranks, noisy.links});
  std::vector<Link> uneven = test::halo_links(5, 6, 7, true);
  for (Link& l : uneven) l.weight += static_cast<double>(random() % 7);
  cases.push_back({"halo, uneven counts", 5 * 6 * 7, uneven});
  if (test::under_sanitizer) cases.erase(cases.begin());  // the largest
  for (const Case& c : cases)
    for (const int limit : {1024, 128}) {
      const Partition found = find_regions(CommunicationGraph(c.ranks, c.links), limited(limit));
      for (int trial = 0; trial < test::thinned(2); ++trial) {
        const Labels name = test::random_names(c.ranks, random);
        const Partition again = find_regions(test::renamed(c.ranks, c.links, name, random), limited(limit));
        INFO(c.name << ", limit " << limit << ", trial " << trial);
        REQUIRE(again.modularity == Approx(found.modularity).margin(1e-12));
        REQUIRE(same(test::named_back(again.region_of_rank, name), found.region_of_rank));
      }
    }
}

TEST_CASE("even halos are symmetric: relabelled, they have the same regions up to a symmetry") {
  std::mt19937_64 random(54);
  struct Case {
    int x, y, z;
    bool periodic;
  };
  for (const Case& c : {Case{6, 6, 6, true}, Case{4, 6, 8, true}, Case{5, 6, 7, false}, Case{6, 6, 6, false}})
    for (const int limit : {1024, 100}) {
      const int n = c.x * c.y * c.z;
      const std::vector<Link> links = test::halo_links(c.x, c.y, c.z, c.periodic);
      const auto sizes = [](const Partition& p) {
        std::vector<int> size(static_cast<std::size_t>(p.regions));
        for (const std::int32_t r : p.region_of_rank) ++size[static_cast<std::size_t>(r)];
        std::sort(size.begin(), size.end());
        return size;
      };
      Dendrogram tree, tree_again;
      const Partition found = find_regions(CommunicationGraph(n, links), limited(limit), &tree);
      for (int trial = 0; trial < test::thinned(2); ++trial) {
        const Labels name = test::random_names(n, random);
        const Partition again = find_regions(test::renamed(n, links, name, random), limited(limit), &tree_again);
        INFO(c.x << "x" << c.y << "x" << c.z << (c.periodic ? " periodic" : " box") << ", limit " << limit);
        REQUIRE(again.modularity == Approx(found.modularity).margin(1e-12));
        REQUIRE(sizes(again) == sizes(found));
        REQUIRE(tree_again.merges.size() == tree.merges.size());
        for (std::size_t k = 0; k < tree.merges.size(); ++k)
          REQUIRE(tree_again.merges[k].height == tree.merges[k].height);
      }
    }
}

TEST_CASE("halos have regions at least as good as blocks, dense and coarsened") {
  for (const int limit : {2048, 256}) {
    const CommunicationGraph graph(512, test::halo_links(8, 8, 8, true));
    Labels blocks;
    for (int rank = 0; rank < 512; ++rank)
      blocks.push_back(rank % 8 / 4 + 2 * (rank / 8 % 8 / 4) + 4 * (rank / 64 / 4));
    CHECK(find_regions(graph, limited(limit)).modularity >= modularity(graph, blocks) - 1e-9);
  }
}
