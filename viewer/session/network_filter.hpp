// Which routes of a network are shown: those in a range of a ranking, those in a lasso. Plain functions of a
// NetworkCase.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/session/network_case.hpp"

namespace pclscope::session {

// What can be ranked: routes, links (both directions apart), vertices.
enum class NetworkMetric : std::uint8_t {
  route_length,     // links
  route_bytes,      // of the pair of ranks
  route_hop_bytes,  // bytes x links
  route_load,       // the heaviest link on the route
  link_load,        // bytes
  vertex_in,        // bytes over the links into it
  vertex_out,       // bytes over the links out of it
};
enum class NetworkThing : std::uint8_t { route, link, vertex };
NetworkThing thing_of(NetworkMetric metric);

// The largest value first; among equals the lowest number first. Numbers of routes in the case's order, of links of its
// LinkGraph, of vertices. Without links that nothing crosses and vertices that nothing enters or leaves.
struct NetworkRanking {
  NetworkMetric metric = NetworkMetric::route_length;
  std::vector<std::uint32_t> order;
  std::vector<double> values;  // of each of `order`
};
NetworkRanking rank_network(const NetworkCase& network, NetworkMetric metric);

// Places in a ranking: [first, end).
struct NetworkBrush {
  NetworkMetric metric = NetworkMetric::route_length;
  std::size_t first = 0, end = 0;
  bool operator==(const NetworkBrush&) const = default;
};
// Vertices, ascending: routes all of whose vertices are among them, or (crossing) any.
struct NetworkLasso {
  std::vector<std::int32_t> vertices;
  bool crossing = false;
  bool operator==(const NetworkLasso&) const = default;
};
struct NetworkFilter {
  std::optional<NetworkBrush> brush;
  std::optional<NetworkLasso> lasso;
  bool any() const { return brush || lasso; }
  bool operator==(const NetworkFilter&) const = default;
};

struct ShownRoutes {
  NetworkCasePtr network;
  NetworkFilter filter;
  std::vector<std::uint32_t> routes;  // ascending numbers
  mapping::LinkLoads loads;           // of the network's links, by these routes alone
};
// Routes that meet both. Of a brush of links: routes over one of them; of vertices: routes through one of them (that
// have a link).
ShownRoutes filter_routes(NetworkCasePtr network, const NetworkFilter& filter);

// Routes over the directed link; through the vertex (ends included); of one of the ranks. Ascending.
std::vector<std::uint32_t> routes_over(const NetworkCase& network, std::int32_t from, std::int32_t to);
std::vector<std::uint32_t> routes_through(const NetworkCase& network, std::int32_t vertex);
std::vector<std::uint32_t> routes_of_ranks(const NetworkCase& network, const std::vector<std::int32_t>& ranks);
// From vertex to vertex, of each pair (from, to) in a row.
std::vector<std::uint32_t> routes_between(const NetworkCase& network, const std::vector<std::int32_t>& pairs);
// Their sources and destinations, ascending, each once.
std::vector<std::int32_t> ranks_of(const NetworkCase& network, const std::vector<std::uint32_t>& routes);

}  // namespace pclscope::session
