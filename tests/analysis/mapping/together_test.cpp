// Several routes at a time: against all combinations of minimal ways, and what must hold of any.
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <random>

#include "analysis/mapping/reroute.hpp"
#include "tests/thinned.hpp"

using namespace pclscope;
using namespace pclscope::mapping;

namespace {

using Path = std::vector<std::int32_t>;

std::vector<Path> minimal_ways(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<Path> ways;
  Path path{from};
  const std::function<void()> go = [&] {
    if (path.back() == to) return ways.push_back(path);
    for (const std::int32_t next : topology.neighbours(path.back())) {
      if (topology.hops(next, to) != topology.hops(path.back(), to) - 1) continue;
      path.push_back(next);
      go();
      path.pop_back();
    }
  };
  go();
  return ways;
}

// Of all combinations of the ways.
double least_heaviest(const LinkGraph& graph, std::vector<Route> routes, const std::vector<std::vector<Path>>& ways,
                      std::size_t next = 0) {
  if (next == routes.size()) return summarise(link_loads(graph, routes)).largest;
  double least = INFINITY;
  for (const Path& path : ways[next]) {
    routes[next].path = path;
    least = std::min(least, least_heaviest(graph, routes, ways, next + 1));
  }
  return least;
}

std::vector<std::size_t> all_of(const std::vector<Route>& routes) {
  std::vector<std::size_t> chosen(routes.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  return chosen;
}

}  // namespace

TEST_CASE("a 3x3 torus: never below the least of all minimal ways, and there more often than one by one") {
  const auto torus = Topology::parse("torus:3x3");
  REQUIRE(torus);
  const LinkGraph graph = *LinkGraph::of(*torus);
  std::mt19937 random(8);
  int least_together = 0, least_one_by_one = 0;
  const int cases = test::thinned(150, 40);
  for (int turn = 0; turn < cases; ++turn) {
    std::vector<Route> routes;
    std::vector<std::vector<Path>> ways;
    for (int i = 0; i < 9; ++i) {  // two ways each where both coordinates differ
      const auto a = static_cast<std::int32_t>(random() % 9), b = static_cast<std::int32_t>(random() % 9);
      if (a == b) continue;
      ways.push_back(minimal_ways(*torus, a, b));
      routes.push_back({a, b, double(1 + random() % 9), torus->route(a, b)});
    }
    const double least = least_heaviest(graph, routes, ways);
    std::vector<Route> alone = routes, several = routes;
    const RerouteSummary one = reroute(graph, alone, all_of(routes), {Criterion::load, 0, 5});
    const RerouteSummary all = reroute(graph, several, all_of(routes), {Criterion::load, 0, 5, true});
    CAPTURE(turn, least, one.after.largest, all.after.largest);
    REQUIRE(all.after.largest >= least);
    REQUIRE(all.after.largest <= one.after.largest);
    REQUIRE(all.after.total == one.after.total);  // all are minimal
    least_together += all.after.largest == least;
    least_one_by_one += one.after.largest == least;
  }
  INFO(least_one_by_one << " one by one, " << least_together << " together, of " << cases);
  CHECK(least_together >= least_one_by_one);
  if (cases == 150) CHECK(least_together > least_one_by_one);  // the first forty have no such case
  CHECK(least_together >= cases * 9 / 10);
}

TEST_CASE("on paper: one leaves the heaviest link for a way on which another makes room") {
  // 0 - 1 - 2
  // |   |   |    The link 0>1 has 4 + 4. From 0 to 4 there is a way by 3, but 3>4 has 5, which can go by 6 and 7.
  // 3 - 4 - 5
  // |   |   |
  // 6 - 7 - 8
  const auto mesh = Topology::parse("mesh:3x3");
  REQUIRE(mesh);
  const LinkGraph graph = *LinkGraph::of(*mesh);
  const std::vector<Route> routes{{0, 4, 4, {0, 1, 4}}, {0, 1, 4, {0, 1}}, {3, 7, 5, {3, 4, 7}}};
  std::vector<Route> alone = routes, several = routes;
  CHECK(reroute(graph, alone, {0, 1, 2}, {Criterion::load, 0, 5}).after.largest == 8);
  const RerouteSummary all = reroute(graph, several, {0, 1, 2}, {Criterion::load, 0, 5, true});
  CHECK(all.after.largest == 5);
  CHECK(all.together == 1);
  CHECK(several[0].path == Path{0, 3, 4});
  CHECK(several[2].path == Path{3, 6, 7});
  // Whoever was not asked stays.
  several = routes;
  CHECK(reroute(graph, several, {0, 1}, {Criterion::load, 0, 5, true}).after.largest == 8);
  CHECK(several[2].path == routes[2].path);
}

TEST_CASE("many routes together: not longer than permitted, never heavier than one by one, loads are conserved") {
  std::mt19937 random(6);
  for (const char* text : {"torus:4x4x4", "mesh:6x6", "hyperx:4x4", "dragonfly:5x2x2", "nodes:12"}) {
    const auto topology = Topology::parse(text);
    REQUIRE(topology);
    const LinkGraph graph = *LinkGraph::of(*topology);
    for (const std::int32_t delta : {0, 2}) {
      std::vector<Route> before;
      for (int i = 0; i < 200; ++i) {
        const auto a = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology->nodes())),
                   b = static_cast<std::int32_t>(random() % static_cast<unsigned>(topology->nodes()));
        before.push_back({a, b, double(random() % 100000), topology->route(a, b)});
      }
      CAPTURE(text, delta);
      std::vector<Route> alone = before, several = before;
      const RerouteSummary one = reroute(graph, alone, all_of(before), {Criterion::load, delta, 5});
      const RerouteSummary all = reroute(graph, several, all_of(before), {Criterion::load, delta, 5, true});
      CHECK(all.after.largest <= one.after.largest);
      CHECK(all.after.total == Approx(sum_hop_bytes(several)).epsilon(1e-12));
      std::size_t changed = 0;
      for (std::size_t i = 0; i < before.size(); ++i) {
        REQUIRE(several[i].length() <= before[i].length() + delta);
        REQUIRE(several[i].path.front() == before[i].path.front());
        REQUIRE(several[i].path.back() == before[i].path.back());
        for (std::size_t k = 1; k < several[i].path.size(); ++k)
          REQUIRE(graph.find(several[i].path[k - 1], several[i].path[k]) >= 0);
        changed += several[i].path != before[i].path;
        REQUIRE(all.reroutes[i].path == several[i].path);
      }
      CHECK(changed == all.changed);
    }
  }
}
