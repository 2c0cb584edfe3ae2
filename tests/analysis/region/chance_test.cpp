// Partitions that are better than chance, and those that are not.
#include "analysis/region/chance.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/region/modularity.hpp"
#include "tests/analysis/region/patterns.hpp"
#include "tests/patience.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;

namespace {

std::int32_t regions_of(int ranks, const std::vector<Link>& links) {
  return find_significant_regions(CommunicationGraph(ranks, links)).partition.regions;
}

// Groups that talk all to all, and a link from each to the next.
std::vector<Link> groups(int count, int size, double inside, double between) {
  std::vector<Link> links;
  for (int g = 0; g < count; ++g) {
    for (int a = 0; a < size; ++a)
      for (int b = 0; b < a; ++b) links.push_back({g * size + a, g * size + b, inside});
    links.push_back({g * size, (g + 1) % count * size, between});
  }
  return links;
}

}  // namespace

TEST_CASE("small halos, rings and chains are one region") {
  for (const bool periodic : {true, false}) CHECK(regions_of(27, test::halo_links(3, 3, 3, periodic)) == 1);
  CHECK(regions_of(64, test::halo_links(4, 4, 4, true)) == 1);
  CHECK(regions_of(8, test::halo_links(2, 2, 2, false)) == 1);
  CHECK(regions_of(8, test::halo_links(8, 1, 1, false)) == 1);
  for (const int ranks : {8, 16, 64}) CHECK(regions_of(ranks, test::halo_links(ranks, 1, 1, true)) == 1);
}

TEST_CASE("CG has its rows") {
  for (const auto& [rows, columns] : {std::pair{4, 4}, {4, 8}, {8, 8}, {16, 16}, {16, 32}})
    CHECK(regions_of(rows * columns, test::cg_links(rows, columns)) == rows);
}

TEST_CASE("planted groups are found, of all sizes") {
  for (const double between : {1.0, 10.0, 300.0})
    for (const auto& [count, size] : {std::pair{2, 4}, {4, 2}, {3, 4}, {4, 4}, {8, 8}, {16, 4}}) {
      INFO(count << " of " << size << ", " << between);
      CHECK(regions_of(count * size, groups(count, size, 1000, between)) == count);
    }
}

TEST_CASE("random graphs are one region: power laws and even ones") {
  int several = 0, all = 0;
  for (unsigned seed = 0; seed < test::thinned(30u, 12u); ++seed) {
    std::mt19937_64 random(seed);
    const int ranks = seed % 2 ? 48 : 150;
    std::vector<double> weight;
    for (int i = 0; i < ranks; ++i) weight.push_back(std::pow(i + 1.0, seed % 3 ? -0.6 : 0.0));
    // Each rank has a link to an earlier one, so that the graph is connected.
    std::vector<Link> links;
    const auto draw = [&](int below) {
      double sum = 0, at = static_cast<double>(random() >> 11) * 0x1p-53;
      for (int i = 0; i < below; ++i) sum += weight[static_cast<std::size_t>(i)];
      at *= sum;
      int i = 0;
      while (i + 1 < below && (at -= weight[static_cast<std::size_t>(i)]) > 0) ++i;
      return i;
    };
    for (int i = 1; i < ranks; ++i) links.push_back({i, draw(i), 1.0});
    for (int e = 0; e < 2 * ranks; ++e) links.push_back({draw(ranks), draw(ranks), 1.0});
    ++all;
    several += regions_of(ranks, links) > 1;
  }
  CHECK(several <= all / 10);
}

TEST_CASE("components are judged each alone and never share a region") {
  std::vector<Link> links = test::halo_links(3, 3, 3, true);
  for (Link l : groups(4, 4, 1000, 10)) links.push_back({l.a + 27, l.b + 27, l.weight});
  const SignificantRegions found = find_significant_regions(CommunicationGraph(43, links));
  CHECK(found.partition.regions == 5);
  for (int rank = 0; rank < 27; ++rank) CHECK(found.partition.region_of_rank[rank] == 0);
  REQUIRE(found.tests.size() == 2);
  CHECK_FALSE(found.tests[0].better());
  CHECK(found.tests[1].better());
  CHECK(found.partition.modularity ==
        Approx(modularity(CommunicationGraph(43, links), found.partition.region_of_rank)).margin(1e-12));
}

TEST_CASE("the gain of a cut is the difference of modularities") {
  const CommunicationGraph graph(16, groups(4, 4, 1000, 10));
  std::vector<std::int32_t> ranks(16), label(16), whole(16, 0);
  for (int i = 0; i < 16; ++i) ranks[i] = i, label[i] = i / 4;
  CHECK(cutting_gain(graph, graph.total(), ranks, label) ==
        Approx(modularity(graph, label) - modularity(graph, whole)).margin(1e-12));
}

TEST_CASE("the same graph gives the same answer; large ones take bounded time") {
  std::mt19937_64 random(4);
  std::vector<Link> links;
  for (int a = 0; a < 700; ++a)
    for (int b = 0; b < a; ++b)
      links.push_back({a, b, a / 70 == b / 70 ? 500.0 + static_cast<double>(random() % 50) : 100.0});
  const CommunicationGraph graph(700, links);
  const std::vector<std::int32_t> label = find_regions(graph).region_of_rank;
  const double before_s = test::core_seconds();
  const ChanceTest first = test_against_chance(graph, graph.total(), label);
  const double took = test::core_seconds() - before_s;
  const ChanceTest again = test_against_chance(graph, graph.total(), label);
  CHECK(first.better());
  CHECK(first.chance_mean == again.chance_mean);
  CHECK(first.chance_spread == again.chance_spread);
  CHECK(took < 60);  // tenths of a second
}
