#include "analysis/mapping/route_set.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "analysis/mapping/input_checks.hpp"

namespace pclscope::mapping {
namespace {

constexpr std::size_t most_stored = std::size_t{1} << 28;  // of all routes together: a gigabyte

double sane(double bytes) { return std::isfinite(bytes) && bytes > 0 ? bytes : 0; }

void name_vertices(RouteSet& set, const Topology& topology, const std::vector<std::int32_t>& node_of_rank) {
  set.vertices = topology.vertices();
  std::vector<std::int32_t> cores(static_cast<std::size_t>(set.vertices), 0);
  for (std::int32_t v = 0; v < set.vertices; ++v) {
    set.coordinates.push_back(topology.coordinates(v));
    if (set.coordinates.back().empty()) set.coordinates.back() = {v};
    set.number.push_back(static_cast<std::int32_t>(node_of_rank.size()) + v);
  }
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    const auto node = static_cast<std::size_t>(node_of_rank[rank]);
    if (cores[node] == 0) set.number[node] = static_cast<std::int32_t>(rank);
    set.places[static_cast<std::int32_t>(rank)] = {node_of_rank[rank], cores[node]++};
  }
}

}  // namespace

Result<RouteSet> routes_of(const Traffic& traffic, const Topology& topology,
                           const std::vector<std::int32_t>& node_of_rank) {
  if (static_cast<std::int64_t>(node_of_rank.size()) < traffic.ranks)
    return bad(std::to_string(traffic.ranks) + " ranks, but places for " + std::to_string(node_of_rank.size()));
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    if (node_of_rank[rank] < 0 || node_of_rank[rank] >= topology.nodes())
      return bad("rank " + std::to_string(rank) + " would be on node " + std::to_string(node_of_rank[rank]) + " of " +
                 std::to_string(topology.nodes()));
  }
  RouteSet set;
  name_vertices(set, topology, node_of_rank);
  // Networks without coordinates search once for a destination, and keep not all that they found (distance_rows.hpp):
  // those of one destination one after the other.
  std::vector<std::size_t> order(traffic.flows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return traffic.flows[a].destination < traffic.flows[b].destination;
  });
  set.routes.resize(order.size());
  std::size_t steps = 0;
  for (const std::size_t i : order) {
    const Flow& flow = traffic.flows[i];
    if (flow.source < 0 || flow.destination < 0 || flow.source >= traffic.ranks || flow.destination >= traffic.ranks)
      return bad("a flow of a rank that does not exist");
    const std::int32_t from = node_of_rank[static_cast<std::size_t>(flow.source)],
                       to = node_of_rank[static_cast<std::size_t>(flow.destination)];
    set.routes[i] = {flow.source, flow.destination, sane(flow.bytes), topology.route(from, to)};
    steps += set.routes[i].path.size();
    if (steps > most_stored) return bad("the routes are too many and too long to be kept");
  }
  return set;
}

std::size_t set_bytes(RouteSet& set, const Traffic& traffic) {
  const auto key = [](const auto& pair) { return std::pair(pair.source, pair.destination); };
  std::size_t found = 0;
  for (Route& route : set.routes) {
    const auto flow = std::lower_bound(traffic.flows.begin(), traffic.flows.end(), route,
                                       [&](const Flow& a, const Route& b) { return key(a) < key(b); });
    const bool there = flow != traffic.flows.end() && key(*flow) == key(route);
    route.bytes = there ? sane(flow->bytes) : 0;
    found += there;
  }
  return found;
}

double mean_length(const std::vector<Route>& routes) {
  double sum = 0, count = 0;
  for (const Route& route : routes) {
    sum += route.length();
    count += route.length() > 0;
  }
  return count > 0 ? sum / count : 0;
}

double sum_hop_bytes(const std::vector<Route>& routes) {
  return std::accumulate(routes.begin(), routes.end(), 0.0,
                         [](double sum, const Route& route) { return sum + route.hop_bytes(); });
}

std::vector<std::size_t> rank_routes(const std::vector<Route>& routes, RouteMetric metric,
                                     const std::vector<double>& heaviest) {
  const auto value = [&](std::size_t i) {
    if (metric == RouteMetric::length) return double(routes[i].length());
    return metric == RouteMetric::load ? heaviest[i] : routes[i].hop_bytes();
  };
  std::vector<std::size_t> order(routes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tuple(value(a), routes[a].bytes) > std::tuple(value(b), routes[b].bytes);
  });
  return order;
}

}  // namespace pclscope::mapping
