// How long does another way take to find on 2,048 vertices (the paper: 30 ms for a route of length 10), and for 10,000
// routes one after the other? Every answer is checked: never longer than permitted, never on a heavier link; a sample
// against a plain search over the whole network, threshold by threshold.
//   reroute_benchmark [--quick]
#include "analysis/mapping/reroute.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace pclscope;
using namespace pclscope::mapping;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void require(bool holds, const char* what) {
  if (holds) return;
  std::printf("WRONG: %s\n", what);
  std::exit(1);
}

// Pairs as codes have them: half near in the numbering, half anywhere; bytes over four decades; whole, so that sums are
// exact.
std::vector<Route> make_routes(const Topology& topology, std::size_t count, std::int32_t least_length,
                               std::mt19937& random) {
  std::vector<Route> routes;
  const auto any = [&](std::int32_t below) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(below));
  };
  while (routes.size() < count) {
    const std::int32_t a = any(topology.nodes()), b = random() % 2 && least_length < 2
                                                          ? (a + 1 + any(64)) % topology.nodes()
                                                          : any(topology.nodes());
    if (a == b || topology.hops(a, b) < least_length) continue;
    const double bytes = std::floor(std::pow(10.0, 3 + 4 * std::uniform_real_distribution<double>()(random)));
    routes.push_back({a, b, bytes, topology.route(a, b)});
  }
  return routes;
}

// The length of the shortest way over links that carry at most `most` with the route on them; -1: none.
std::int32_t plain_search(const LinkGraph& graph, const LinkLoads& with, const Route& route, double most) {
  std::vector<std::int32_t> hops(static_cast<std::size_t>(graph.vertices()), -1), queue{route.path.front()};
  hops[static_cast<std::size_t>(queue[0])] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head) {
    for (std::int32_t link = graph.first(queue[head]); link < graph.last(queue[head]); ++link) {
      auto& there = hops[static_cast<std::size_t>(graph.to(link))];
      if (there >= 0 || with[static_cast<std::size_t>(link)] > most) continue;
      there = hops[static_cast<std::size_t>(queue[head])] + 1;
      queue.push_back(graph.to(link));
    }
  }
  return hops[static_cast<std::size_t>(route.path.back())];
}

void check_against_plain(const LinkGraph& graph, const LinkLoads& loads, const Route& route, const RerouteRule& rule,
                         const Reroute& found) {
  LinkLoads with = loads;
  for (std::size_t i = 1; i < route.path.size(); ++i)
    with[static_cast<std::size_t>(graph.find(route.path[i - 1], route.path[i]))] -= route.bytes;
  for (double& load : with) load += route.bytes;
  const double now = heaviest_on(graph, with, route.path);
  std::int32_t limit = route.length() + rule.delta;
  if (rule.criterion == Criterion::length) limit = plain_search(graph, with, route, now);
  std::vector<double> values = with;
  std::sort(values.begin(), values.end());
  const auto least = std::partition_point(values.begin(), values.end(), [&](double most) {
    const std::int32_t hops = plain_search(graph, with, route, most);
    return hops < 0 || hops > limit;
  });
  require(found.load_before == now, "the heaviest link of the present way");
  require(found.load_after == std::min(now, *least), "the heaviest link of the new way is the smallest possible");
  require(static_cast<std::int32_t>(found.path.size()) - 1 == plain_search(graph, with, route, std::min(now, *least)),
          "of these ways the shortest");
}

void one_by_one(const char* text, std::size_t load_routes, std::int32_t least_length, std::size_t sample,
                std::size_t checked) {
  std::mt19937 random(1);
  const auto topology = Topology::parse(text);
  require(bool(topology), "topology");
  const auto graph = LinkGraph::of(*topology);
  require(bool(graph), "links");
  std::vector<Route> routes = make_routes(*topology, load_routes, 1, random);
  const std::vector<Route> asked = make_routes(*topology, sample, least_length, random);
  routes.insert(routes.end(), asked.begin(), asked.end());
  Rerouter rerouter(*graph, link_loads(*graph, routes));
  for (const Criterion criterion : {Criterion::length, Criterion::load}) {
    for (const std::int32_t delta : {0, 1, 2, 4}) {
      const RerouteRule rule{criterion, delta};
      double sum = 0, most = 0;
      std::size_t better = 0, hops = 0;
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto start = Clock::now();
        const Reroute found = rerouter.suggest(asked[i], rule);
        const double took = seconds_since(start);
        sum += took;
        most = std::max(most, took);
        better += found.changed;
        hops += static_cast<std::size_t>(asked[i].length());
        require(static_cast<std::int32_t>(found.path.size()) - 1 <= asked[i].length() + delta,
                "not longer than permitted");
        require(found.load_after <= found.load_before, "not on a heavier link");
        if (i < checked) check_against_plain(*graph, rerouter.loads(), asked[i], rule, found);
      }
      const auto count = static_cast<double>(asked.size());
      std::printf(
          "%-22s %6d links  length %4.1f  by %-6s delta %d: %.3f ms per route, at most %.3f ms; %zu of %zu better; "
          "paper 30 ms: %.0f times\n",
          text, graph->links(), double(hops) / count, criterion == Criterion::load ? "load" : "length", delta,
          sum / count * 1e3, most * 1e3, better, asked.size(), 30e-3 / (sum / count));
    }
  }
}

void many(const char* text, std::size_t count) {
  std::mt19937 random(2);
  const auto topology = Topology::parse(text);
  const auto graph = LinkGraph::of(*topology);
  const std::vector<Route> before = make_routes(*topology, count, 1, random);
  std::vector<std::size_t> chosen(count);
  for (std::size_t i = 0; i < count; ++i) chosen[i] = i;
  for (const Criterion criterion : {Criterion::length, Criterion::load}) {
    for (const std::int32_t delta : {0, 2}) {
      std::vector<Route> routes = before;
      const auto start = Clock::now();
      const RerouteSummary summary = reroute(*graph, routes, chosen, {criterion, delta});
      const double took = seconds_since(start);
      for (std::size_t i = 0; i < count; ++i) {
        require(routes[i].length() <= before[i].length() + delta, "not longer than permitted");
        require(summary.reroutes[i].load_after <= summary.reroutes[i].load_before, "not on a heavier link");
      }
      require(summary.after.largest <= summary.before.largest, "the most loaded link does not get more");
      require(summary.after.total == sum_hop_bytes(routes), "loads are conserved");
      std::printf(
          "%-22s %zu routes by %-6s delta %d: %.2f s; %zu changed; heaviest link %.4g -> %.4g (%+.1f %%), hop-bytes "
          "%+.1f %%\n",
          text, count, criterion == Criterion::load ? "load" : "length", delta, took, summary.changed,
          summary.before.largest, summary.after.largest, (summary.after.largest / summary.before.largest - 1) * 100,
          (summary.after.total / summary.before.total - 1) * 100);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  // 2,048 vertices: the paper's machine, a plane with long routes, and a HyperX with more links than the paper's
  // 36,864.
  for (const char* text : {"torus:4x4x4x16x2", "torus:32x64", "hyperx:4x4x4x4x8"}) {
    one_by_one(text, quick ? 2'000 : 10'000, std::strncmp(text, "torus:4", 7) == 0 ? 10 : 2, quick ? 20 : 300,
               quick ? 5 : 40);
  }
  many("torus:4x4x4x16x2", quick ? 1'000 : 10'000);
  if (!quick) many("torus:32x64", 10'000);
  std::printf("every answer right\n");
}
