// Alternatives of routes against all simple paths of small random graphs, and what must hold on large ones.
#include "analysis/mapping/reroute.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <sstream>
#include <tuple>

#include "analysis/mapping/route_file.hpp"
#include "tests/analysis/mapping/temporary_file.hpp"
#include "tests/test_data.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

Topology make(const std::string& text) {
  auto topology = Topology::parse(text);
  INFO(text);
  REQUIRE(topology);
  return std::move(*topology);
}

Topology random_graph(std::mt19937& random) {
  const unsigned vertices = 3 + random() % 6;
  std::ostringstream text;
  for (unsigned v = 1; v < vertices; ++v) text << v << " " << random() % v << "\n";
  for (unsigned extra = random() % (2 * vertices); extra > 0; --extra) {
    const unsigned a = random() % vertices, b = random() % vertices;
    if (a != b) text << a << " " << b << "\n";
  }
  const test::TemporaryFile file(text.str());
  return make("edges:" + file.path());
}

std::vector<std::vector<std::int32_t>> all_paths(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<std::vector<std::int32_t>> found;
  std::vector<std::int32_t> path{from};
  const std::function<void()> go = [&] {
    if (path.back() == to) {
      found.push_back(path);
      return;
    }
    for (const auto next : topology.neighbours(path.back())) {
      if (std::find(path.begin(), path.end(), next) != path.end()) continue;
      path.push_back(next);
      go();
      path.pop_back();
    }
  };
  go();
  return found;
}

// The heaviest link of `path` when the route moves there: loads summed afresh.
double heaviest_if(const LinkGraph& graph, std::vector<Route> routes, std::size_t moved,
                   const std::vector<std::int32_t>& path) {
  routes[moved].path = path;
  return heaviest_on(graph, link_loads(graph, routes), path);
}

// Routes that are not the shortest, too: random simple paths. Whole bytes: sums are exact.
std::vector<Route> random_routes(std::mt19937& random, const Topology& topology, int count) {
  std::vector<Route> routes;
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology.nodes())),
               b = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology.nodes()));
    const auto paths = all_paths(topology, a, b);
    routes.push_back({a, b, double(random() % 4 == 0 ? 0 : random() % 100), paths[random() % paths.size()]});
  }
  return routes;
}

void check_optimal(const Topology& topology, const std::vector<Route>& routes, std::size_t chosen,
                   const RerouteRule& rule) {
  const LinkGraph graph = *LinkGraph::of(topology);
  const Route& route = routes[chosen];
  const double heaviest = heaviest_if(graph, routes, chosen, route.path);
  std::pair<double, double> best{std::numeric_limits<double>::infinity(), 0};
  const auto worth = [&](double length, double load) {
    return rule.criterion == Criterion::length ? std::pair(length, load) : std::pair(load, length);
  };
  for (const auto& path : all_paths(topology, route.path.front(), route.path.back())) {
    const double length = double(path.size()) - 1, load = heaviest_if(graph, routes, chosen, path);
    if (length <= route.length() + rule.delta && load <= heaviest) best = std::min(best, worth(length, load));
  }
  Rerouter rerouter(graph, link_loads(graph, routes));
  const Reroute reroute = rerouter.suggest(route, rule);
  REQUIRE(reroute.load_before == heaviest);
  REQUIRE(reroute.load_after == heaviest_if(graph, routes, chosen, reroute.path));
  REQUIRE(worth(double(reroute.path.size()) - 1, reroute.load_after) == best);
  REQUIRE(reroute.changed == (best < worth(route.length(), heaviest)));
  REQUIRE((reroute.changed || reroute.path == route.path));
  // What it says twice is the same, and applying it gives the loads of the new routes.
  REQUIRE(rerouter.suggest(route, rule).path == reroute.path);
  std::vector<Route> after = routes;
  rerouter.apply(after[chosen], reroute);
  REQUIRE(rerouter.loads() == link_loads(graph, after));
}

}  // namespace

TEST_CASE("one route: no simple path is better, on random graphs, for both criteria and every tolerance") {
  const unsigned seed = 20261122;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (int round = 0; round < 300; ++round) {
    const Topology topology = random_graph(random);
    const auto routes = random_routes(random, topology, 1 + static_cast<int>(random() % 12));
    for (std::size_t chosen = 0; chosen < routes.size(); ++chosen) {
      for (const std::int32_t delta : {0, 1, 2, 1000}) {
        check_optimal(topology, routes, chosen, {Criterion::length, delta});
        check_optimal(topology, routes, chosen, {Criterion::load, delta});
      }
    }
  }
}

TEST_CASE("the example on paper: a square with one busy side") {
  // 0-1
  // | |   0>1>3 carries 5; 0>1 is busy with 10 more: by way of 2 the heaviest link has 5.
  // 2-3
  const Topology square = make("mesh:2x2");
  const LinkGraph graph = *LinkGraph::of(square);
  std::vector<Route> routes{{0, 3, 5, {0, 1, 3}}, {0, 1, 10, {0, 1}}};
  Rerouter rerouter(graph, link_loads(graph, routes));
  const Reroute better = rerouter.suggest(routes[0], {Criterion::load, 0});
  CHECK(better.changed);
  CHECK(better.path == std::vector<std::int32_t>{0, 2, 3});
  CHECK(better.load_before == 15);
  CHECK(better.load_after == 5);
  CHECK_FALSE(rerouter.suggest(routes[1], {Criterion::load, 0}).changed);  // one link is the shortest
  CHECK(rerouter.suggest(routes[1], {Criterion::load, 2}).path == std::vector<std::int32_t>{0, 2, 3, 1});
  const RerouteSummary both = reroute(graph, routes, {1, 0}, {Criterion::load, 0});
  CHECK(both.changed == 1);
  CHECK(both.before.largest == 15);
  CHECK(both.after.largest == 10);
  CHECK_FALSE(both.reroutes[0].changed);
  CHECK(both.reroutes[1].path == std::vector<std::int32_t>{0, 2, 3});
}

TEST_CASE("many routes: none is longer than permitted, the most loaded link never gets more, loads are conserved") {
  const unsigned seed = 5;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  for (const char* text : {"torus:4x4x4", "mesh:6x6", "hyperx:4x4", "dragonfly:5x2x2", "fattree:4x4", "nodes:12"}) {
    INFO(text);
    const Topology topology = make(text);
    const LinkGraph graph = *LinkGraph::of(topology);
    for (const Criterion criterion : {Criterion::length, Criterion::load}) {
      for (const std::int32_t delta : {0, 2}) {
        std::vector<Route> routes;
        for (std::int32_t i = 0; i < 200; ++i) {
          const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology.nodes())),
                     b = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology.nodes()));
          routes.push_back({a, b, std::uniform_real_distribution<double>(0, 1e9)(random), topology.route(a, b)});
        }
        std::vector<std::size_t> chosen(routes.size());
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        const std::vector<Route> before = routes;
        const RerouteSummary summary = reroute(graph, routes, chosen, {criterion, delta});
        CHECK(summary.after.largest <= summary.before.largest * (1 + 1e-12));
        CHECK(summary.after.total == Approx(sum_hop_bytes(routes)).epsilon(1e-12));
        std::size_t changed = 0;
        for (std::size_t i = 0; i < routes.size(); ++i) {
          REQUIRE(routes[i].length() <= before[i].length() + delta);
          REQUIRE(routes[i].path.front() == before[i].path.front());
          REQUIRE(routes[i].path.back() == before[i].path.back());
          for (std::size_t k = 1; k < routes[i].path.size(); ++k)
            REQUIRE(graph.find(routes[i].path[k - 1], routes[i].path[k]) >= 0);
          REQUIRE(summary.reroutes[i].load_after <= summary.reroutes[i].load_before);
          changed += routes[i].path != before[i].path;
        }
        CHECK(changed == summary.changed);
        std::vector<Route> again = before;
        reroute(graph, again, chosen, {criterion, delta});
        for (std::size_t i = 0; i < routes.size(); ++i) REQUIRE(again[i].path == routes[i].path);
        const RerouteSummary passes = reroute(graph, again, chosen, {criterion, 0, 5});
        CHECK(passes.after.largest <= summary.after.largest * (1 + 1e-12));
        CHECK(passes.passes <= 5);
        for (std::size_t i = 0; i < routes.size(); ++i) REQUIRE(again[i].length() <= routes[i].length());
      }
    }
  }
}

TEST_CASE("the benchmark's routes on Vesta: rerouting lowers the most loaded link of IMB's single-byte routes") {
  const Topology torus = make("torus:2x2x2x2x2");
  auto file = read_routes(test::data_file("par-comm/route/IMB-MPI1_Vesta_n32_c16_route.txt"), &torus);
  REQUIRE(file);
  std::vector<std::size_t> chosen(file->set.routes.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  const double mean = mean_length(file->set.routes);
  const RerouteSummary summary = reroute(*LinkGraph::of(torus), file->set.routes, chosen, {Criterion::load, 0});
  CHECK(summary.before.total == 1337);
  CHECK(summary.after.total == 1337);  // every route was and stays a shortest one
  CHECK(mean_length(file->set.routes) == mean);
  CHECK(summary.after.largest < summary.before.largest);
  CHECK(summary.after.largest >= 496.0 / 5);  // 496 routes end at node 0, over its five links
}

TEST_CASE("routes within a node, without bytes, and between neighbours without another way stay") {
  const Topology chain = make("mesh:3");
  const LinkGraph graph = *LinkGraph::of(chain);
  std::vector<Route> routes{{0, 3, 5, {0}}, {0, 1, 0, {0, 1}}, {0, 2, 7, {0, 1, 2}}};
  for (const Criterion criterion : {Criterion::length, Criterion::load}) {
    const RerouteSummary summary = reroute(graph, routes, {0, 1, 2}, {criterion, 5});
    CHECK(summary.changed == 0);
    CHECK(summary.after.largest == 7);
  }
  CHECK(reroute(graph, routes, {}, {}).reroutes.empty());
}
