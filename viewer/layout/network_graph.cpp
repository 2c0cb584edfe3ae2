#include "viewer/layout/network_graph.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace pclscope::layout {
namespace {

using mapping::LinkGraph;
using mapping::Route;

std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

void make_nodes(NetworkGraph& graph, const Grouping& grouping, const std::vector<bool>& open) {
  std::vector<std::int32_t> node_of_group(index(grouping.groups), -1);
  graph.node_of.resize(grouping.group.size());
  for (std::size_t v = 0; v < grouping.group.size(); ++v) {
    const std::int32_t group = grouping.group[v];
    const bool alone = index(group) < open.size() && open[index(group)];
    std::int32_t node = alone ? -1 : node_of_group[index(group)];
    if (node < 0) {
      node = static_cast<std::int32_t>(graph.nodes.size());
      graph.nodes.emplace_back().group = group;
      if (!alone) node_of_group[index(group)] = node;
    }
    graph.nodes[index(node)].vertices.push_back(static_cast<std::int32_t>(v));
    graph.node_of[v] = node;
  }
}

// The graph's own links, between nodes.
void make_links(NetworkGraph& graph, const LinkGraph& all) {
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;
  for (std::int32_t link = 0; link < all.links(); ++link) {
    const std::int32_t from = graph.node_of[index(all.from(link))], to = graph.node_of[index(all.to(link))];
    if (from != to) pairs.emplace_back(from, to);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  graph.links.reserve(pairs.size());
  for (const auto& [from, to] : pairs) graph.links.push_back({from, to, 0, 0, 0});
  graph.link_of.resize(index(all.links()));
  for (std::int32_t link = 0; link < all.links(); ++link)
    graph.link_of[index(link)] = graph.find(graph.node_of[index(all.from(link))], graph.node_of[index(all.to(link))]);
}

// Calls visit(link of the graph or -1, bytes) for each step of the route.
template <class Visit>
void each_step(const NetworkGraph& graph, const LinkGraph& all, const Route& route, Visit&& visit) {
  for (std::size_t i = 1; i < route.path.size(); ++i) {
    const std::int32_t link = all.find(route.path[i - 1], route.path[i]);
    if (link >= 0) visit(graph.link_of[index(link)]);
  }
}

// Which routes cross each link, counted first, then filled in.
void make_routes(NetworkGraph& graph, const session::NetworkCase& network) {
  const LinkGraph& all = *network.links;
  std::vector<std::size_t> next(graph.links.size() + 1, 0);
  for (const std::uint32_t number : graph.shown->routes)
    each_step(graph, all, network.routes.routes[number], [&](std::int32_t link) {
      if (link >= 0) ++next[index(link) + 1];
    });
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<RouteOnLink> found(next.back());
  std::vector<std::size_t> at(next.begin(), next.end() - 1);
  for (const std::uint32_t number : graph.shown->routes) {
    const Route& route = network.routes.routes[number];
    each_step(graph, all, route, [&](std::int32_t link) {
      if (link >= 0) found[at[index(link)]++] = {number, route.bytes};
    });
  }
  graph.first_route.push_back(0);
  for (std::size_t link = 0; link < graph.links.size(); ++link) {
    const std::size_t begin = graph.routes.size();
    for (std::size_t i = next[link]; i < next[link + 1]; ++i) {  // by number: all of one route in a row
      if (graph.routes.size() > begin && graph.routes.back().route == found[i].route)
        graph.routes.back().bytes += found[i].bytes;
      else graph.routes.push_back(found[i]);
    }
    std::stable_sort(graph.routes.begin() + static_cast<std::ptrdiff_t>(begin), graph.routes.end(),
                     [](const RouteOnLink& a, const RouteOnLink& b) { return a.bytes > b.bytes; });
    graph.first_route.push_back(graph.routes.size());
  }
}

void add_up(NetworkGraph& graph, const session::NetworkCase& network) {
  const LinkGraph& all = *network.links;
  for (std::int32_t link = 0; link < all.links(); ++link) {
    const double bytes = graph.shown->loads[index(link)];
    graph.sum += bytes;
    const std::int32_t own = graph.link_of[index(link)];
    if (own >= 0) graph.links[index(own)].bytes += bytes;
    else graph.nodes[index(graph.node_of[index(all.from(link))])].inside += bytes;
  }
  for (std::size_t i = 0; i < graph.links.size(); ++i) {
    GraphLink& link = graph.links[i];
    double weighted = 0, lengths = 0, sum = 0;
    for (const RouteOnLink& on : graph.routes_on(i)) {
      const Route& route = network.routes.routes[on.route];
      weighted += on.bytes * route.length();
      lengths += route.length();
      sum += route.hop_bytes();
    }
    const auto count = static_cast<double>(graph.routes_on(i).size());
    link.hops = link.bytes > 0 ? weighted / link.bytes : count > 0 ? lengths / count : 0;
    link.hop_bytes = sum;
    graph.nodes[index(link.from)].out += link.bytes;
    graph.nodes[index(link.to)].in += link.bytes;
    graph.most_bytes = std::max(graph.most_bytes, link.bytes);
    graph.most_hops = std::max(graph.most_hops, link.hops);
    graph.most_hop_bytes = std::max(graph.most_hop_bytes, link.hop_bytes);
    graph.used += link.bytes > 0;
  }
  for (const GraphNode& node : graph.nodes) {
    graph.most_degree = std::max(graph.most_degree, node.in + node.out);
    graph.most_inside = std::max(graph.most_inside, node.inside);
  }
}

}  // namespace

std::int32_t NetworkGraph::find(std::int32_t from, std::int32_t to) const {
  const auto at = std::lower_bound(links.begin(), links.end(), std::pair(from, to),
                                   [](const GraphLink& a, const auto& b) { return std::pair(a.from, a.to) < b; });
  return at == links.end() || at->from != from || at->to != to ? -1 : static_cast<std::int32_t>(at - links.begin());
}

NetworkGraph build_graph(std::shared_ptr<const session::ShownRoutes> shown, const Grouping& grouping,
                         const std::vector<bool>& open) {
  NetworkGraph graph;
  graph.shown = std::move(shown);
  const session::NetworkCase& network = *graph.shown->network;
  make_nodes(graph, grouping, open);
  make_links(graph, *network.links);
  make_routes(graph, network);
  add_up(graph, network);
  return graph;
}

std::vector<Point> place_nodes(const NetworkGraph& graph, const std::vector<Point>& groups,
                               const VertexPlaces& vertices, float room) {
  // Of open groups: the middle of their vertices, and how far these reach.
  std::vector<Point> middle(groups.size());
  std::vector<float> count(groups.size(), 0), reach(groups.size(), 0);
  std::vector<std::int32_t> nodes_of(groups.size(), 0);
  for (const GraphNode& node : graph.nodes) {
    ++nodes_of[index(node.group)];
    for (const std::int32_t v : node.vertices) {
      middle[index(node.group)] = middle[index(node.group)] + vertices.at[index(v)];
      ++count[index(node.group)];
    }
  }
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (count[g] > 0) middle[g] = middle[g] * (1 / count[g]);
  for (const GraphNode& node : graph.nodes)
    reach[index(node.group)] =
        std::max(reach[index(node.group)], distance(middle[index(node.group)], vertices.at[index(node.vertices[0])]));
  std::vector<Point> places;
  places.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes) {
    const std::size_t g = index(node.group);
    const bool open = nodes_of[g] > 1 && reach[g] > 0;
    places.push_back(open ? groups[g] + (vertices.at[index(node.vertices[0])] - middle[g]) * (room / reach[g])
                          : groups[g]);
  }
  return places;
}

std::vector<double> bytes_of(const NetworkGraph& graph, std::span<const std::uint32_t> routes) {
  std::vector<double> bytes(graph.links.size(), 0);
  const session::NetworkCase& network = *graph.shown->network;
  for (const std::uint32_t number : routes) {
    if (number >= network.routes.routes.size()) continue;
    const Route& route = network.routes.routes[number];
    each_step(graph, *network.links, route, [&](std::int32_t link) {
      if (link >= 0) bytes[index(link)] += route.bytes;
    });
  }
  return bytes;
}

}  // namespace pclscope::layout
