// The clustering against the papers' printed figures, known patterns, and properties on random graphs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "analysis/region/coarsen.hpp"
#include "analysis/region/find_regions.hpp"
#include "analysis/region/free_energy.hpp"
#include "analysis/region/linkage.hpp"
#include "analysis/region/modularity.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/analysis/region/patterns.hpp"
#include "tests/patience.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using test::random_connected;
using test::same;

TEST_CASE("the rows of CG's process grid are its regions, for any beta") {
  struct Case {
    int rows, columns;
    double modularity;
  };
  for (const Case& c : {Case{16, 16, 0.865}, Case{16, 32, 0.879}})
    for (const double beta : {0.01, 0.1, 1.0, 2.0}) {
      if (test::under_sanitizer && c.columns > 16 && beta != 1.0) continue;
      const CommunicationGraph graph = test::cg(c.rows, c.columns);
      const Partition found = find_regions(graph, {beta, 2048});
      INFO(c.rows << " x " << c.columns << ", beta " << beta);
      REQUIRE(found.regions == c.rows);
      for (int rank = 0; rank < graph.ranks(); ++rank) REQUIRE(found.region_of_rank[rank] == rank / c.columns);
      CHECK(found.modularity == Approx(c.modularity).margin(0.0006));
    }
}

TEST_CASE("small grids of CG give their rows too") {
  for (const auto& [rows, columns] : {std::pair{4, 4}, std::pair{4, 8}, std::pair{8, 8}, std::pair{8, 16}}) {
    const CommunicationGraph graph = test::cg(rows, columns);
    const Partition found = find_regions(graph);
    INFO(rows << " x " << columns);
    REQUIRE(found.regions == rows);
    for (int rank = 0; rank < graph.ranks(); ++rank) REQUIRE(found.region_of_rank[rank] == rank / columns);
  }
}

TEST_CASE("the distance agrees with the definition, computed the plain way") {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < test::thinned(60); ++trial) {
    const int n = 2 + static_cast<int>(random() % 70);
    const double beta = 0.01 + 0.05 * static_cast<double>(random() % 40);
    const CommunicationGraph graph = random_connected(n, random);
    Eigen::MatrixXd w = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i)
      for (const auto& to : graph.neighbours(i)) w(i, to.rank) = to.weight / graph.degree(i) * std::exp(-beta);
    // Z = sum of W^k by repeated squaring: (I + W)(I + W^2)(I + W^4)...
    Eigen::MatrixXd z = Eigen::MatrixXd::Identity(n, n), power = w;
    for (int k = 0; k < 14; ++k) {
      z += (z * power).eval();
      power = (power * power).eval();
    }
    const Eigen::MatrixXd distance = free_energy_distances(graph, beta);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double phi = -(std::log(z(i, j) / z(j, j)) + std::log(z(j, i) / z(i, i))) / (2 * beta);
        INFO("trial " << trial << ", " << i << "," << j << " of " << n << ", beta " << beta);
        REQUIRE(distance(i, j) == Approx(phi).margin(1e-7));
      }
  }
}

TEST_CASE("the distance is a metric") {
  std::mt19937_64 random(6);
  for (int trial = 0; trial < 40; ++trial) {
    const int n = 3 + static_cast<int>(random() % 60);
    const Eigen::MatrixXd d = free_energy_distances(random_connected(n, random), 0.02 + 0.1 * (trial % 20));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        REQUIRE(d(i, j) == d(j, i));
        if (i != j) REQUIRE(d(i, j) > 0);
        for (int k = 0; k < n; ++k) REQUIRE(d(i, k) <= d(i, j) + d(j, k) + 1e-9);
      }
  }
}

TEST_CASE("long chains do not overflow") {
  std::vector<Link> links;
  const int n = test::thinned(1500, 500);  // what 500 steps leave is below the least double already
  for (int i = 1; i < n; ++i) links.push_back({i - 1, i, 1.0});
  const Eigen::MatrixXd d = free_energy_distances(CommunicationGraph(n, links), 1.0);
  CHECK(d.allFinite());
  CHECK(d(0, 300) > d(0, 299));
  CHECK(d(0, 300) == Approx(d(10, 290) + 2 * d(20, 30)).epsilon(0.01));
}

TEST_CASE("linkage agrees with the plain cubic method") {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 2 + static_cast<int>(random() % 40);
    Eigen::MatrixXd d = Eigen::MatrixXd::Zero(n, n);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) d(i, j) = d(j, i) = 1 + static_cast<double>(random() % 1000000) / 1e5;
    std::vector<double> heights;
    std::vector<std::vector<int>> clusters;
    for (int i = 0; i < n; ++i) clusters.push_back({i});
    while (clusters.size() > 1) {
      double least = 1e300;
      std::size_t a = 0, b = 0;
      for (std::size_t x = 0; x < clusters.size(); ++x)
        for (std::size_t y = 0; y < x; ++y) {
          double sum = 0;
          for (const int i : clusters[x])
            for (const int j : clusters[y]) sum += d(i, j);
          sum /= static_cast<double>(clusters[x].size() * clusters[y].size());
          if (sum < least) least = sum, a = y, b = x;
        }
      heights.push_back(least);
      clusters[a].insert(clusters[a].end(), clusters[b].begin(), clusters[b].end());
      clusters.erase(clusters.begin() + static_cast<std::ptrdiff_t>(b));
    }
    const std::vector<Merge> merges = average_linkage(d);
    REQUIRE(merges.size() == heights.size());
    for (std::size_t k = 0; k < merges.size(); ++k) REQUIRE(merges[k].height == Approx(heights[k]).margin(1e-6));
  }
}

TEST_CASE("the cut is the best of all cuts through the tree") {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 100; ++trial) {
    const int n = 2 + static_cast<int>(random() % 9);
    const CommunicationGraph graph = random_connected(n, random);
    const std::vector<Merge> merges = average_linkage(free_energy_distances(graph, 1.0));
    std::vector<std::int32_t> leaves(static_cast<std::size_t>(n));
    std::iota(leaves.begin(), leaves.end(), 0);
    const double found = modularity(graph, best_cut(graph, leaves, n, merges, graph.total()));
    // Every set of merges that contains all merges below its members is a cut.
    double best = -1;
    for (unsigned chosen = 0; chosen < 1u << merges.size(); ++chosen) {
      std::vector<std::int32_t> label = leaves, top(static_cast<std::size_t>(2 * n - 1));
      std::iota(top.begin(), top.end(), 0);
      bool closed = true;
      for (std::size_t k = 0; k < merges.size(); ++k) {
        if (!(chosen >> k & 1)) continue;
        for (const int side : {merges[k].left, merges[k].right}) {
          closed = closed && (side < n || chosen >> (side - n) & 1);
          for (std::int32_t& l : label)
            if (l == side) l = n + static_cast<int>(k);
        }
      }
      if (!closed) continue;
      best = std::max(best, modularity(graph, label));
    }
    INFO("trial " << trial << ", n " << n);
    REQUIRE(found == Approx(best).margin(1e-9));
  }
}

TEST_CASE("planted groups are found, whatever the ranks are called") {
  std::mt19937_64 random(21);
  for (int trial = 0; trial < test::thinned(30, 6); ++trial) {
    const int groups = 2 + trial % 6, size = 8 + static_cast<int>(random() % 12), n = groups * size;
    std::vector<std::int32_t> name(static_cast<std::size_t>(n)), truth(static_cast<std::size_t>(n));
    std::iota(name.begin(), name.end(), 0);
    std::shuffle(name.begin(), name.end(), random);
    std::vector<Link> plain, renamed;
    for (int i = 0; i < n; ++i) {
      truth[i] = i / size;
      for (int j = 0; j < i; ++j) {
        const bool inside = i / size == j / size;
        if (random() % 100 >= (inside ? 60 : 4)) continue;
        const double weight =
            static_cast<double>((inside ? 50 : 10) + random() % 20) + 0.001 * static_cast<double>(random() % 1000);
        plain.push_back({i, j, weight});
        renamed.push_back({name[j], name[i], weight});
      }
    }
    std::shuffle(renamed.begin(), renamed.end(), random);
    const Partition found = find_regions(CommunicationGraph(n, plain));
    const Partition again = find_regions(CommunicationGraph(n, renamed));
    std::vector<std::int32_t> back(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) back[i] = again.region_of_rank[name[i]];
    INFO("trial " << trial << ", " << groups << " groups of " << size);
    REQUIRE(same(found.region_of_rank, truth));
    REQUIRE(same(back, truth));
    REQUIRE(again.modularity == Approx(found.modularity).margin(1e-12));
  }
}

TEST_CASE("regions of random graphs do not depend on the ranks' names") {
  std::mt19937_64 random(22);
  for (int trial = 0; trial < test::thinned(100); ++trial) {
    const int n = 3 + static_cast<int>(random() % 50);
    std::vector<std::int32_t> name(static_cast<std::size_t>(n));
    std::iota(name.begin(), name.end(), 0);
    std::shuffle(name.begin(), name.end(), random);
    std::vector<Link> plain, renamed;
    for (int i = 1; i < n; ++i)
      for (int k = 0; k < 2; ++k) {
        // Weights without ties: on a tie the smaller name decides.
        plain.push_back({i, static_cast<int>(random() % static_cast<unsigned>(i)),
                         1 + static_cast<double>(random() % 1000003) / 1e4});
        renamed.push_back({name[plain.back().b], name[plain.back().a], plain.back().weight});
      }
    const Partition found = find_regions(CommunicationGraph(n, plain));
    const Partition again = find_regions(CommunicationGraph(n, renamed));
    std::vector<std::int32_t> back(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) back[i] = again.region_of_rank[name[i]];
    INFO("trial " << trial << ", n " << n);
    REQUIRE(same(found.region_of_rank, back));
  }
}

TEST_CASE("parts that never talk to each other are apart, silent ranks are in no region") {
  // Ranks 0, 2, 4 talk; 1 and 5 talk; 3 is silent but for itself.
  const std::vector<Link> links = {{0, 2, 5}, {2, 4, 5}, {4, 0, 5}, {1, 5, 3}, {3, 3, 100}};
  const Partition found = find_regions(CommunicationGraph(6, links));
  CHECK(found.regions == 2);
  CHECK(found.region_of_rank == std::vector<std::int32_t>{0, 1, 0, -1, 0, 1});
  CHECK(find_regions(CommunicationGraph(4, {})).regions == 0);
  CHECK(find_regions(CommunicationGraph(0, {})).regions == 0);
}

TEST_CASE("few ranks that all talk to each other are one region") {
  for (int n = 2; n <= 8; ++n) {
    std::vector<Link> links;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) links.push_back({i, j, 10.0});
    CHECK(find_regions(CommunicationGraph(n, links)).regions == 1);
  }
}

TEST_CASE("thousands of ranks are coarsened and clustered") {
  // 64 x 128 processes: 8,192 ranks, coarsened to the default limit for the dense part.
  const double before_s = test::core_seconds();
  const Partition found = find_regions(test::cg(64, 128));
  const double seconds = test::core_seconds() - before_s;
  CHECK(found.regions == 64);
  for (int rank = 0; rank < 64 * 128; ++rank) REQUIRE(found.region_of_rank[rank] == rank / 128);
#ifdef NDEBUG
  CHECK(seconds < 120);  // some 2 s; without coarsening hours
#else
  static_cast<void>(seconds);  // unoptimised matrix code
#endif
}

TEST_CASE("coarsening ends at its limit also for a star and never tears a group apart") {
  std::vector<Link> star;
  for (int i = 1; i < 5000; ++i) star.push_back({0, i, 1.0 + i % 7});
  const CommunicationGraph graph(5000, star);
  const Coarsening coarse = coarsen(graph, 300);
  CHECK(coarse.groups <= 300);
  CHECK(coarse.groups >= 250);
  CHECK(*std::max_element(coarse.group.begin(), coarse.group.end()) == coarse.groups - 1);
}
