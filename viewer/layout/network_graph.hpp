// The network as it is drawn: vertices, or several merged into one, with the bytes of the shown routes between them.
// Plain values; sums are those of LinkLoads.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "viewer/layout/network_shape.hpp"
#include "viewer/session/network_filter.hpp"

namespace pclscope::layout {

// What a line's colour says.
enum class LinkColour : std::uint8_t {
  bytes,      // over the link, or of the route
  hops,       // links of the route; of a link the mean of what crosses it, by bytes
  hop_bytes,  // bytes x hops of the route; of a link the sum over its routes
};

struct GraphNode {
  std::vector<std::int32_t> vertices;  // ascending; several: merged
  std::int32_t group = 0;
  double in = 0, out = 0;  // bytes over links from and to other nodes
  double inside = 0;       // over links between its own vertices
};

// From node `from` to node `to`, one direction.
struct GraphLink {
  std::int32_t from = 0, to = 0;
  double bytes = 0;
  double hops = 0;       // mean of its routes' lengths, by bytes
  double hop_bytes = 0;  // sum over its routes
  double value(LinkColour colour) const {
    return colour == LinkColour::bytes ? bytes : colour == LinkColour::hops ? hops : hop_bytes;
  }
};

struct RouteOnLink {
  std::uint32_t route = 0;
  double bytes = 0;  // several links of the route can be one here: then their sum
};

struct NetworkGraph {
  std::shared_ptr<const session::ShownRoutes> shown;
  std::vector<GraphNode> nodes;
  std::vector<std::int32_t> node_of;     // of each vertex
  std::vector<GraphLink> links;          // by from, then to; also without bytes
  std::vector<std::size_t> first_route;  // of each link in `routes`, and the end
  std::vector<RouteOnLink> routes;       // of each link, the heaviest first, then by number
  std::vector<std::int32_t> link_of;     // of each link of the LinkGraph the number here; -1: inside a node
  double most_bytes = 0, most_hops = 0, most_hop_bytes = 0;  // of a link
  double most_degree = 0, most_inside = 0;                   // of a node
  double sum = 0;                                            // of all loads: over links and inside nodes
  std::size_t used = 0;                                      // links with bytes
  std::span<const RouteOnLink> routes_on(std::size_t link) const {
    return {routes.data() + first_route[link], routes.data() + first_route[link + 1]};
  }
  double most(LinkColour colour) const {
    return colour == LinkColour::bytes ? most_bytes : colour == LinkColour::hops ? most_hops : most_hop_bytes;
  }
  // -1: there is none.
  std::int32_t find(std::int32_t from, std::int32_t to) const;
};

// `open`: of each group, whether its vertices are shown one by one.
NetworkGraph build_graph(std::shared_ptr<const session::ShownRoutes> shown, const Grouping& grouping,
                         const std::vector<bool>& open);

// Where the graph's nodes lie: a group at its place, vertices of an open group around it as they lie among themselves,
// inside a circle of `room` about it.
std::vector<Point> place_nodes(const NetworkGraph& graph, const std::vector<Point>& groups,
                               const VertexPlaces& vertices, float room);

// Bytes of some routes on each of the graph's links.
std::vector<double> bytes_of(const NetworkGraph& graph, std::span<const std::uint32_t> routes);

}  // namespace pclscope::layout
