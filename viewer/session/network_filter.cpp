#include "viewer/session/network_filter.hpp"

#include <algorithm>
#include <numeric>

namespace pclscope::session {
namespace {

using mapping::Route;

// Numbers of the routes of which `holds` is true.
template <class Holds>
std::vector<std::uint32_t> routes_that(const NetworkCase& network, Holds&& holds) {
  std::vector<std::uint32_t> found;
  const auto& routes = network.routes.routes;
  for (std::size_t i = 0; i < routes.size(); ++i)
    if (holds(i, routes[i])) found.push_back(static_cast<std::uint32_t>(i));
  return found;
}

double value_of(const NetworkCase& network, NetworkMetric metric, std::size_t i) {
  const auto& routes = network.routes.routes;
  switch (metric) {
    case NetworkMetric::route_length: return routes[i].length();
    case NetworkMetric::route_bytes: return routes[i].bytes;
    case NetworkMetric::route_hop_bytes: return routes[i].hop_bytes();
    case NetworkMetric::route_load: return network.heaviest[i];
    case NetworkMetric::link_load: return network.loads[i];
    case NetworkMetric::vertex_in: return network.in_bytes[i];
    case NetworkMetric::vertex_out: return network.out_bytes[i];
  }
  return 0;
}

std::size_t count_of(const NetworkCase& network, NetworkThing thing) {
  if (thing == NetworkThing::route) return network.routes.routes.size();
  return thing == NetworkThing::link ? network.loads.size() : network.in_bytes.size();
}

// Of each thing that the brush's metric ranks: whether the brush has it.
std::vector<bool> brushed(const NetworkCase& network, const NetworkBrush& brush) {
  const NetworkRanking ranking = rank_network(network, brush.metric);
  std::vector<bool> in(count_of(network, thing_of(brush.metric)), false);
  for (std::size_t i = brush.first; i < std::min(brush.end, ranking.order.size()); ++i) in[ranking.order[i]] = true;
  return in;
}

bool crosses(const NetworkCase& network, const Route& route, const std::vector<bool>& links) {
  for (std::size_t i = 1; i < route.path.size(); ++i) {
    const std::int32_t link = network.links->find(route.path[i - 1], route.path[i]);
    if (link >= 0 && links[static_cast<std::size_t>(link)]) return true;
  }
  return false;
}

}  // namespace

NetworkThing thing_of(NetworkMetric metric) {
  if (metric == NetworkMetric::link_load) return NetworkThing::link;
  const bool vertex = metric == NetworkMetric::vertex_in || metric == NetworkMetric::vertex_out;
  return vertex ? NetworkThing::vertex : NetworkThing::route;
}

NetworkRanking rank_network(const NetworkCase& network, NetworkMetric metric) {
  NetworkRanking ranking;
  ranking.metric = metric;
  const NetworkThing thing = thing_of(metric);
  std::vector<std::pair<double, std::uint32_t>> all;
  for (std::size_t i = 0, count = count_of(network, thing); i < count; ++i) {
    const double value = value_of(network, metric, i);
    if (thing == NetworkThing::route || value > 0) all.emplace_back(-value, static_cast<std::uint32_t>(i));
  }
  std::sort(all.begin(), all.end());
  for (const auto& [value, number] : all) {
    ranking.order.push_back(number);
    ranking.values.push_back(-value);
  }
  return ranking;
}

ShownRoutes filter_routes(NetworkCasePtr network, const NetworkFilter& filter) {
  ShownRoutes shown;
  shown.filter = filter;
  std::vector<bool> ranked, inside(static_cast<std::size_t>(network->vertices()), false);
  if (filter.brush) ranked = brushed(*network, *filter.brush);
  if (filter.lasso) {
    for (const std::int32_t vertex : filter.lasso->vertices)
      if (vertex >= 0 && vertex < network->vertices()) inside[static_cast<std::size_t>(vertex)] = true;
  }
  const auto in_brush = [&](std::size_t i, const Route& route) {
    if (!filter.brush) return true;
    const NetworkThing thing = thing_of(filter.brush->metric);
    if (thing == NetworkThing::route) return static_cast<bool>(ranked[i]);
    if (thing == NetworkThing::link) return crosses(*network, route, ranked);
    return route.length() > 0 &&
           std::ranges::any_of(route.path, [&](std::int32_t v) { return ranked[static_cast<std::size_t>(v)]; });
  };
  const auto in_lasso = [&](const Route& route) {
    if (!filter.lasso) return true;
    const auto is_inside = [&](std::int32_t v) { return inside[static_cast<std::size_t>(v)]; };
    return filter.lasso->crossing ? std::ranges::any_of(route.path, is_inside)
                                  : std::ranges::all_of(route.path, is_inside);
  };
  shown.routes = routes_that(*network, [&](std::size_t i, const Route& r) { return in_brush(i, r) && in_lasso(r); });
  if (!filter.any()) {
    shown.loads = network->loads;
  } else {
    shown.loads.assign(network->loads.size(), 0);
    for (const std::uint32_t number : shown.routes) {
      const Route& route = network->routes.routes[number];
      for (std::size_t i = 1; i < route.path.size(); ++i) {
        const std::int32_t link = network->links->find(route.path[i - 1], route.path[i]);
        if (link >= 0) shown.loads[static_cast<std::size_t>(link)] += route.bytes;
      }
    }
  }
  shown.network = std::move(network);
  return shown;
}

std::vector<std::uint32_t> routes_over(const NetworkCase& network, std::int32_t from, std::int32_t to) {
  return routes_that(network, [&](std::size_t, const Route& route) {
    for (std::size_t i = 1; i < route.path.size(); ++i)
      if (route.path[i - 1] == from && route.path[i] == to) return true;
    return false;
  });
}

std::vector<std::uint32_t> routes_through(const NetworkCase& network, std::int32_t vertex) {
  return routes_that(network, [&](std::size_t, const Route& route) {
    return std::find(route.path.begin(), route.path.end(), vertex) != route.path.end();
  });
}

std::vector<std::uint32_t> routes_of_ranks(const NetworkCase& network, const std::vector<std::int32_t>& ranks) {
  std::vector<bool> wanted(static_cast<std::size_t>(std::max(0, network.traffic.ranks)), false);
  for (const std::int32_t rank : ranks)
    if (rank >= 0 && rank < network.traffic.ranks) wanted[static_cast<std::size_t>(rank)] = true;
  return routes_that(network, [&](std::size_t, const Route& route) {
    return wanted[static_cast<std::size_t>(route.source)] || wanted[static_cast<std::size_t>(route.destination)];
  });
}

std::vector<std::uint32_t> routes_between(const NetworkCase& network, const std::vector<std::int32_t>& pairs) {
  return routes_that(network, [&](std::size_t, const Route& route) {
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2)
      if (route.path.front() == pairs[i] && route.path.back() == pairs[i + 1]) return true;
    return false;
  });
}

std::vector<std::int32_t> ranks_of(const NetworkCase& network, const std::vector<std::uint32_t>& routes) {
  std::vector<std::int32_t> ranks;
  for (const std::uint32_t number : routes) {
    ranks.push_back(network.routes.routes[number].source);
    ranks.push_back(network.routes.routes[number].destination);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace pclscope::session
