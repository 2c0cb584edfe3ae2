// The three methods against the papers' printed figures, and each against a computation the long way.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/region/dendrogram.hpp"
#include "analysis/region/find_regions.hpp"
#include "analysis/region/free_energy.hpp"
#include "analysis/region/linkage.hpp"
#include "analysis/region/printed_distances.hpp"
#include "tests/analysis/region/partitions.hpp"
#include "tests/analysis/region/patterns.hpp"
#include "tests/test_data.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using test::random_connected;
using Labels = std::vector<std::int32_t>;

namespace {

struct Figure3 {
  nlohmann::json json;
  CommunicationGraph graph;
  Figure3() {
    std::ifstream file(test::data_file("pclvis/figure3.json"));
    json = nlohmann::json::parse(file);
    std::vector<Link> links;
    for (const auto& edge : json["edges"]) links.push_back({edge[0].get<int>() - 1, edge[1].get<int>() - 1, 1.0});
    graph = CommunicationGraph(8, links);
  }
  double largest_difference(const char* table, const Eigen::MatrixXd& computed) const {
    double largest = 0;
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j)
        if (i != j) largest = std::max(largest, std::abs(json[table][i][j].get<double>() - computed(i, j)));
    return largest;
  }
};

const Labels printed_regions = {0, 0, 0, 0, 1, 1, 1, 1};

RegionOptions by(RegionMethod method) {
  RegionOptions options;
  options.method = method;
  return options;
}

// Sum over simple paths, one by one.
void walk(const CommunicationGraph& graph, int start, int at, int edges, std::vector<bool>& on_path,
          Eigen::MatrixXd& sum) {
  if (edges > 0) sum(start, at) += 1.0 / (edges * edges);
  if (edges == 3) return;
  on_path[static_cast<std::size_t>(at)] = true;
  for (const auto& n : graph.neighbours(at))
    if (!on_path[static_cast<std::size_t>(n.rank)]) walk(graph, start, n.rank, edges + 1, on_path, sum);
  on_path[static_cast<std::size_t>(at)] = false;
}

// Sum over all walks from `at` that reach `to` for the first time, of the product of their weights; cut off where what
// is left cannot matter.
double hitting_sum(const CommunicationGraph& graph, int at, int to, double beta, double product) {
  if (at == to) return product;
  if (product < 1e-10) return 0;
  double sum = 0;
  for (const auto& n : graph.neighbours(at))
    sum += hitting_sum(graph, n.rank, to, beta, product * n.weight / graph.degree(at) * std::exp(-beta));
  return sum;
}

}  // namespace

TEST_CASE("the earlier paper's printed correlations come out to rounding") {
  const Figure3 figure;
  CHECK(figure.largest_difference("correlation_depth3", path_correlations(figure.graph)) < 0.0034);
}

TEST_CASE("the final paper's printed distances, heights and regions come out to rounding") {
  const Figure3 figure;
  const Eigen::MatrixXd distance = printed_free_energy_distances(figure.graph);
  CHECK(figure.largest_difference("free_energy_distance", distance) < 0.005);
  const std::vector<Merge> merges = average_linkage(distance);
  REQUIRE(merges.size() == 7);
  for (std::size_t k = 0; k < 7; ++k)
    CHECK(merges[k].height == Approx(figure.json["average_linkage_heights"][k].get<double>()).margin(0.0006));
  CHECK(cut_at_height(8, merges, 2) == printed_regions);
  // The printed distance breaks the triangle inequality at p1, p4, p5, as the reference notes.
  CHECK(distance(0, 4) - distance(0, 3) - distance(3, 4) == Approx(0.035).margin(0.001));
}

TEST_CASE("on the printed distances single linkage gives one cluster and complete linkage four") {
  const Figure3 figure;
  const Eigen::MatrixXd distance = printed_free_energy_distances(figure.graph);
  const auto clusters = [&](Linkage rule) {
    const Labels label = cut_at_height(8, link_clusters(distance, rule), 2);
    return *std::max_element(label.begin(), label.end()) + 1;
  };
  CHECK(clusters(Linkage::single) == 1);
  CHECK(clusters(Linkage::complete) == 4);
  CHECK(clusters(Linkage::average) == 2);
}

TEST_CASE("each method finds the printed regions of the papers' example, and keeps its tree") {
  const Figure3 figure;
  for (const RegionMethod method : {RegionMethod::free_energy, RegionMethod::paper, RegionMethod::correlation}) {
    Dendrogram tree;
    const Partition found = find_regions(figure.graph, by(method), &tree);
    INFO(name_of(method));
    CHECK(found.region_of_rank == printed_regions);
    CHECK(tree.method == name_of(method));
    CHECK(tree.modularity == found.modularity);
    REQUIRE(check(tree));
    REQUIRE(tree.merges.size() == 7);
    if (method == RegionMethod::paper)
      for (std::size_t k = 0; k < 7; ++k)
        CHECK(tree.merges[k].height == Approx(figure.json["average_linkage_heights"][k].get<double>()).margin(0.0006));
    // By hand on Table 1: 1 and 3 correlate most (1.5), {1234} and {5678} least: the mean of 16 entries is 0.461.
    if (method == RegionMethod::correlation) {
      CHECK(tree.merges.front().height == Approx(-1.5).margin(1e-8));
      CHECK(tree.merges.back().height == Approx(-0.461).margin(0.002));
    }
  }
}

TEST_CASE("the paper's threshold can be set, and finds nothing among many ranks, as the reference says") {
  const CommunicationGraph graph = test::cg(16, 32);
  RegionOptions options = by(RegionMethod::paper);
  CHECK(find_regions(graph, options).regions == 512);
  options.threshold = 1e9;
  CHECK(find_regions(graph, options).regions == 1);
}

TEST_CASE("methods have the names of the command line") {
  for (const RegionMethod method : {RegionMethod::free_energy, RegionMethod::paper, RegionMethod::correlation})
    CHECK(region_method(name_of(method)) == method);
  CHECK(region_method("free-energy") == RegionMethod::free_energy);
  CHECK_FALSE(region_method("free_energy"));
  CHECK_FALSE(region_method(""));
}

TEST_CASE("correlations in closed form are the sums over simple paths") {
  std::mt19937_64 random(41);
  for (int trial = 0; trial < 60; ++trial) {
    const int n = 2 + static_cast<int>(random() % 20);
    CommunicationGraph graph = random_connected(n, random);
    if (trial % 3 == 0) {  // everybody with everybody
      std::vector<Link> links;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < i; ++j) links.push_back({i, j, 2.0});
      graph = CommunicationGraph(n, links);
    }
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    std::vector<bool> on_path(static_cast<std::size_t>(n));
    for (int start = 0; start < n; ++start) walk(graph, start, start, 0, on_path, sum);
    INFO("trial " << trial << ", n " << n);
    REQUIRE((sum - path_correlations(graph)).cwiseAbs().maxCoeff() < 1e-9);
  }
}

TEST_CASE("the free-energy distance is the sum over paths, one by one, on small graphs") {
  std::mt19937_64 random(42);
  for (int trial = 0; trial < 12; ++trial) {
    const int n = 2 + static_cast<int>(random() % 4);
    const double beta = 1.5 + 0.1 * (trial % 5);
    const CommunicationGraph graph = random_connected(n, random);
    const Eigen::MatrixXd distance = free_energy_distances(graph, beta);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const double there = -std::log(hitting_sum(graph, i, j, beta, 1)) / beta;
        const double back = -std::log(hitting_sum(graph, j, i, beta, 1)) / beta;
        INFO("trial " << trial << ", " << i << "," << j << " of " << n);
        // What was cut off is below 1e-10 per walk.
        REQUIRE(distance(i, j) == Approx((there + back) / 2).margin(1e-4));
      }
  }
}

TEST_CASE("many ranks that all talk to each other take bounded time with every method") {
  std::vector<Link> links;
  const int n = test::thinned(700, 300);  // more than the smaller limit
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) links.push_back({i, j, 1.0 + i % 3});
  const CommunicationGraph graph(n, links);
  for (const RegionMethod method : {RegionMethod::free_energy, RegionMethod::paper, RegionMethod::correlation})
    for (const int limit : {1024, 256}) {
      RegionOptions options = by(method);
      options.dense_limit = limit;
      Dendrogram tree;
      const Partition found = find_regions(graph, options, &tree);
      INFO(name_of(method) << ", limit " << limit);
      CHECK(found.regions >= 1);
      CHECK(check(tree));
      CHECK(leaves_of(tree) <= (limit < n ? limit / 2 : n));
      // The simple paths of 3 edges are 240,000 million / 2: one by one they would run into the test's time limit.
    }
}
