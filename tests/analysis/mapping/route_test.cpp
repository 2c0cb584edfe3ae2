// Routes from traffic, what they put on the links, and which are worst.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>

#include "analysis/mapping/link_load.hpp"
#include "analysis/mapping/route_set.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

Topology make(const std::string& text) {
  auto topology = Topology::parse(text);
  INFO(text);
  REQUIRE(topology);
  return std::move(*topology);
}

Traffic random_traffic(std::mt19937& random, std::int32_t ranks, int flows, bool whole) {
  std::map<std::pair<std::int32_t, std::int32_t>, double> pairs;
  for (int i = 0; i < flows; ++i) {
    const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks)),
               b = static_cast<std::int32_t>(random() % static_cast<unsigned>(ranks));
    pairs[{a, b}] = whole ? double(random() % 1'000'000) : std::uniform_real_distribution<double>(0, 1e9)(random);
  }
  Traffic traffic;
  traffic.ranks = ranks;
  for (const auto& [pair, bytes] : pairs) traffic.flows.push_back({pair.first, pair.second, 1, bytes});
  return traffic;
}

}  // namespace

TEST_CASE("what the links carry is what was sent, as often as it hops") {
  const unsigned seed = 11;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (const char* text :
       {"torus:4x4x2", "mesh:5x5", "hyperx:3x4", "dragonfly:5x2x2", "fattree:4x4", "nodes:16", "torus:4x4@BA"}) {
    for (const bool whole : {true, false}) {
      INFO(text);
      const Topology topology = make(text);
      const std::int32_t ranks = 3 * topology.nodes();
      const Traffic traffic = random_traffic(random, ranks, 400, whole);
      std::vector<std::int32_t> node_of_rank(static_cast<std::size_t>(ranks));
      for (auto& node : node_of_rank)
        node = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology.nodes()));
      const auto set = routes_of(traffic, topology, node_of_rank);
      REQUIRE(set);
      const auto graph = LinkGraph::of(topology);
      REQUIRE(graph);
      const LinkLoads loads = link_loads(*graph, set->routes);
      double sum = 0, rounding = whole ? 0 : 1e-12;
      std::map<std::pair<std::int32_t, std::int32_t>, double> oracle;
      for (const Flow& flow : traffic.flows) {
        const auto from = node_of_rank[static_cast<std::size_t>(flow.source)],
                   to = node_of_rank[static_cast<std::size_t>(flow.destination)];
        sum += flow.bytes * topology.hops(from, to);
        const auto path = topology.route(from, to);
        for (std::size_t i = 1; i < path.size(); ++i) oracle[{path[i - 1], path[i]}] += flow.bytes;
      }
      const LoadSummary summary = summarise(loads);
      CHECK(std::abs(summary.total - sum) <= rounding * sum);
      CHECK(std::abs(sum_hop_bytes(set->routes) - sum) <= rounding * sum);
      for (std::int32_t link = 0; link < graph->links(); ++link) {
        REQUIRE(graph->find(graph->from(link), graph->to(link)) == link);
        REQUIRE(graph->reverse(graph->reverse(link)) == link);
        REQUIRE(graph->from(graph->reverse(link)) == graph->to(link));
        const auto known = oracle.find({graph->from(link), graph->to(link)});
        REQUIRE(loads[static_cast<std::size_t>(link)] == (known == oracle.end() ? 0 : known->second));
      }
      const auto links = heaviest_links(*graph, loads, 5), both = heaviest_links(*graph, loads, loads.size(), true);
      CHECK(links.front().bytes == summary.largest);
      CHECK(std::is_sorted(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
      double undirected = 0;
      for (const auto& link : both) undirected += link.bytes;
      CHECK(std::abs(undirected - sum) <= 1e-12 * sum);
    }
  }
}

TEST_CASE("routes are ranked by length, by their heaviest link, by bytes times hops") {
  // A chain 0-1-2-3: 0>3 with 1 byte, 0>1 with 10, 2>3 with 4.
  const Topology chain = make("mesh:4");
  const Traffic traffic{4, {{0, 1, 1, 10}, {0, 3, 1, 1}, {2, 3, 1, 4}}};
  const auto set = routes_of(traffic, chain, {0, 1, 2, 3});
  REQUIRE(set);
  const auto graph = LinkGraph::of(chain);
  const LinkLoads loads = link_loads(*graph, set->routes);
  const std::vector<double> heaviest = heaviest_of(*graph, loads, set->routes);
  CHECK(heaviest == std::vector<double>{11, 11, 5});
  CHECK(rank_routes(set->routes, RouteMetric::length, heaviest) == std::vector<std::size_t>{1, 0, 2});
  CHECK(rank_routes(set->routes, RouteMetric::load, heaviest) == std::vector<std::size_t>{0, 1, 2});
  CHECK(rank_routes(set->routes, RouteMetric::hop_bytes, heaviest) == std::vector<std::size_t>{0, 2, 1});
  CHECK(mean_length(set->routes) == Approx(5.0 / 3));
}

TEST_CASE("traffic that does not fit its places is refused, bytes that are no numbers count nothing") {
  const Topology chain = make("mesh:4");
  CHECK_FALSE(routes_of(Traffic{5, {}}, chain, {0, 1, 2, 3}));
  CHECK_FALSE(routes_of(Traffic{2, {}}, chain, {0, 4}));
  CHECK_FALSE(routes_of(Traffic{2, {}}, chain, {0, -1}));
  CHECK_FALSE(routes_of(Traffic{2, {{0, 2, 1, 1}}}, chain, {0, 1, 2}));
  CHECK_FALSE(routes_of(Traffic{2, {{-1, 0, 1, 1}}}, chain, {0, 1, 2}));
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  const auto set =
      routes_of(Traffic{3, {{0, 1, 1, nan}, {0, 2, 1, -5}, {1, 2, 1, infinite}, {2, 2, 1, 7}}}, chain, {0, 1, 2});
  REQUIRE(set);
  CHECK(sum_hop_bytes(set->routes) == 0);
  CHECK(set->routes.back().length() == 0);
  const auto nothing = routes_of(Traffic{}, chain, {});
  REQUIRE(nothing);
  CHECK(mean_length(nothing->routes) == 0);
  CHECK(summarise(link_loads(*LinkGraph::of(chain), nothing->routes)).mean == 0);
}

TEST_CASE("a network without structure and with too many pairs is refused before its links are made") {
  CHECK(LinkGraph::of(make("nodes:100")));
  CHECK_FALSE(LinkGraph::of(make("nodes:1000000")));
}
