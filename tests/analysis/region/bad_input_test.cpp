// Graphs that nobody would draw: results are whole and finite, nothing crashes.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "analysis/region/canonical_order.hpp"
#include "analysis/region/dendrogram.hpp"
#include "analysis/region/find_regions.hpp"
#include "analysis/region/tracker.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

void check_sound(const CommunicationGraph& graph, const RegionOptions& options) {
  Dendrogram tree;
  const Partition found = find_regions(graph, options, &tree);
  REQUIRE(check(tree));
  REQUIRE(std::isfinite(found.modularity));
  REQUIRE(found.region_of_rank.size() == static_cast<std::size_t>(graph.ranks()));
  REQUIRE(tree.leaf_of_rank.size() == found.region_of_rank.size());
  std::int32_t next = 0;
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    REQUIRE((found.region_of_rank[rank] < 0) == graph.neighbours(rank).empty());
    REQUIRE((tree.leaf_of_rank[rank] < 0) == graph.neighbours(rank).empty());
    REQUIRE(found.region_of_rank[rank] <= next);
    next = std::max(next, found.region_of_rank[rank] + 1);
  }
  REQUIRE(found.regions == next);
}

const RegionMethod methods[] = {RegionMethod::free_energy, RegionMethod::paper, RegionMethod::correlation};

}  // namespace

TEST_CASE("no ranks, one rank, no edges, messages to oneself only") {
  for (const RegionMethod method : methods) {
    RegionOptions options;
    options.method = method;
    check_sound(CommunicationGraph(), options);
    check_sound(CommunicationGraph(0, {}), options);
    check_sound(CommunicationGraph(-3, {}), options);
    check_sound(CommunicationGraph(1, std::vector<Link>{{0, 0, 5}}), options);
    check_sound(CommunicationGraph(100, {}), options);
    check_sound(CommunicationGraph(2, std::vector<Link>{{0, 1, 1}}), options);
  }
}

TEST_CASE("weights that are not numbers do not count, huge and tiny ones do") {
  const CommunicationGraph graph(
      8, std::vector<Link>{{0, 1, not_a_number}, {1, 2, inf}, {2, 3, -inf}, {3, 4, -1}, {4, 5, 0}, {6, 7, 1}});
  CHECK(graph.edges() == 1);
  CHECK(find_regions(graph).regions == 1);
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  // Two triangles of huge weights, a tiny one between.
  const CommunicationGraph extreme(
      6, std::vector<Link>{
             {0, 1, huge}, {1, 2, huge}, {2, 0, huge}, {2, 3, tiny}, {3, 4, huge}, {4, 5, 1e300}, {5, 3, huge}});
  check_sound(extreme, {});
  CHECK(find_regions(extreme).region_of_rank == std::vector<std::int32_t>{0, 0, 0, 1, 1, 1});
}

TEST_CASE("ranks out of range are ignored") {
  const CommunicationGraph graph(4, std::vector<Link>{{0, 4, 1}, {-1, 2, 1}, {2147483647, 1, 1}, {1, 2, 3}});
  CHECK(graph.edges() == 1);
  check_sound(graph, {});
}

TEST_CASE("any options") {
  std::mt19937_64 random(71);
  const CommunicationGraph graph = test::random_connected(60, random);
  for (const RegionMethod method : methods)
    for (const double beta : {not_a_number, inf, -inf, 0.0, -1.0, 1e-300, 1e300})
      for (const std::int32_t limit : {0, -1, 1, 2, 5, 2147483647}) check_sound(graph, {beta, limit, method, beta});
}

TEST_CASE("random graphs with weights of all sizes, in parts, with every method") {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    std::mt19937_64 random(seed);
    const int n = 1 + static_cast<int>(random() % 80);
    std::vector<Link> links;
    for (int k = static_cast<int>(random() % static_cast<unsigned>(3 * n)); k > 0; --k) {
      const double odd[] = {not_a_number, inf, -1, 0, 1e308, 1e-308, 1};
      const double weight =
          random() % 4 ? std::pow(10.0, static_cast<double>(random() % 200) - 100) : odd[random() % 7];
      links.push_back({static_cast<int>(random() % static_cast<unsigned>(n + 1)) - (random() % 20 == 0),
                       static_cast<int>(random() % static_cast<unsigned>(n)), weight});
    }
    const CommunicationGraph graph(n, links);
    INFO("seed " << seed);
    for (const RegionMethod method : methods) check_sound(graph, {1.0, random() % 2 ? 1024 : 16, method});
  }
}

TEST_CASE("thousands of parts, a star, a chain and a clique take little time") {
  std::vector<Link> parts, star, chain, clique;
  const int ranks = test::thinned(20000), close = test::thinned(1200, 400);
  for (int i = 0; i < ranks; i += 2) parts.push_back({i, i + 1, 1.0 + i % 5});
  for (int i = 1; i < ranks; ++i) star.push_back({0, i, 1.0}), chain.push_back({i - 1, i, 1.0});
  for (int i = 0; i < close; ++i)
    for (int j = 0; j < i; ++j) clique.push_back({i, j, 1.0});
  check_sound(CommunicationGraph(ranks, parts), {});
  check_sound(CommunicationGraph(ranks, star), {});
  check_sound(CommunicationGraph(ranks, chain), {});
  check_sound(CommunicationGraph(close, clique), {});
}

TEST_CASE("the canonical order is a permutation, and undoes relabelling where weights tell ranks apart") {
  std::mt19937_64 random(72);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 1 + static_cast<int>(random() % 60);
    std::vector<Link> links;
    for (int i = 1; i < n; ++i)
      for (int k = 0; k < 2; ++k)
        links.push_back(
            {i, static_cast<int>(random() % static_cast<unsigned>(i)), 1.0 + static_cast<double>(random() % 3)});
    const std::vector<std::int32_t> name = test::random_names(n, random);
    const CommunicationGraph graph(n, links), other = test::renamed(n, links, name, random);
    const std::vector<std::int32_t> order = canonical_order(graph), order_other = canonical_order(other);
    std::vector<bool> seen(static_cast<std::size_t>(n));
    for (const std::int32_t rank : order) seen[rank] = true;
    REQUIRE(std::count(seen.begin(), seen.end(), true) == n);
    // Both graphs in their orders are the same graph.
    std::vector<std::int32_t> place(order.size()), place_other(order.size());
    for (int i = 0; i < n; ++i) place[order[i]] = i, place_other[order_other[i]] = i;
    INFO("trial " << trial << ", n " << n);
    for (int i = 0; i < n; ++i) {
      std::map<int, double> a, b;
      for (const auto& k : graph.neighbours(order[i])) a[place[k.rank]] = k.weight;
      for (const auto& k : other.neighbours(order_other[i])) b[place_other[k.rank]] = k.weight;
      REQUIRE(a == b);
    }
  }
}

TEST_CASE("a tracker is not confused by another number of ranks") {
  RegionTracker tracker(4);
  CHECK_FALSE(tracker.update(CommunicationGraph(6, std::vector<Link>{{4, 5, 1}}), {}, 0));
  CHECK(tracker.regions().empty());
  CHECK(tracker.dendrogram().method.empty());
}
