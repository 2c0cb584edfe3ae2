#include "viewer/session/network_case.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace pclscope::session {
namespace {

using mapping::LinkGraph;
using mapping::RouteSet;

void tell_network(const NetworkProgress& progress, const char* what, double share) {
  if (progress) progress(what, share);
}

// Of a network without structure a link for each pair would be there: those that are used say all.
Result<std::shared_ptr<const LinkGraph>> links_of(const mapping::Topology* topology, const RouteSet& set) {
  if (topology == nullptr || topology->text().starts_with("nodes:"))
    return std::shared_ptr<const LinkGraph>(std::make_shared<LinkGraph>(LinkGraph::of(set)));
  auto graph = LinkGraph::of(*topology);
  if (!graph) return graph.error();
  return std::shared_ptr<const LinkGraph>(std::make_shared<LinkGraph>(std::move(*graph)));
}

// All that follows from traffic, routes and links.
void add_up(NetworkCase& made) {
  static std::atomic<std::uint64_t> made_so_far{0};
  made.generation = ++made_so_far;
  const LinkGraph& graph = *made.links;
  made.loads = mapping::link_loads(graph, made.routes.routes);
  made.heaviest = mapping::heaviest_of(graph, made.loads, made.routes.routes);
  const auto vertices = static_cast<std::size_t>(made.vertices());
  made.out_bytes.assign(vertices, 0);
  made.in_bytes.assign(vertices, 0);
  for (std::int32_t link = 0; link < graph.links(); ++link) {
    const double bytes = made.loads[static_cast<std::size_t>(link)];
    made.out_bytes[static_cast<std::size_t>(graph.from(link))] += bytes;
    made.in_bytes[static_cast<std::size_t>(graph.to(link))] += bytes;
  }
  made.ranks_at.assign(vertices, {});
  for (std::size_t rank = 0; rank < made.node_of_rank.size(); ++rank) {
    const auto node = static_cast<std::size_t>(made.node_of_rank[rank]);
    if (node < vertices) made.ranks_at[node].push_back(static_cast<std::int32_t>(rank));
  }
}

// A rank that nobody has seen has sent nothing: for the routes' sake it may be anywhere.
Result<RouteSet> own_routes(const mapping::Traffic& traffic, const mapping::Topology& topology,
                            std::vector<std::int32_t> node_of_rank) {
  for (auto& node : node_of_rank) node = std::max(node, 0);
  auto set = mapping::routes_of(traffic, topology, node_of_rank);
  return set;
}

std::string assumed(const mapping::Topology& topology) { return "assumed: the routes of " + topology.text(); }

}  // namespace

Result<NetworkCasePtr> make_network_case(const NetworkFacts& facts, const NetworkProgress& progress) {
  auto made = std::make_shared<NetworkCase>();
  made->topology = facts.topology;
  made->traffic = facts.traffic;
  made->rank_names = facts.rank_names;
  made->node_of_rank = facts.node_of_rank;
  made->capacities = facts.capacities;
  made->node_names = facts.node_names;
  made->routes_from = facts.routes_from;
  made->traffic_from = facts.traffic_from;
  made->title = facts.title;
  made->of_run = facts.of_run;
  made->as_run = facts.as_run;
  tell_network(progress, "finding routes", 0.2);
  if (facts.routes) {
    made->routes = *facts.routes;
  } else {
    if (!facts.topology) return Error{ErrorCode::bad_argument, "neither the network nor its routes are known"};
    auto set = own_routes(facts.traffic, *facts.topology, facts.node_of_rank);
    if (!set) return set.error();
    made->routes = std::move(*set);
    made->routes_from = assumed(*facts.topology);
  }
  tell_network(progress, "adding up loads", 0.7);
  auto graph = links_of(facts.topology.get(), made->routes);
  if (!graph) return graph.error();
  made->links = std::move(*graph);
  add_up(*made);
  tell_network(progress, "done", 1);
  return NetworkCasePtr(std::move(made));
}

NetworkCasePtr with_routes(const NetworkCase& before, std::vector<mapping::Route> routes, std::string change) {
  auto made = std::make_shared<NetworkCase>(before);
  made->routes.routes = std::move(routes);
  made->change = std::move(change);
  add_up(*made);
  return made;
}

Result<NetworkCasePtr> with_placement(const NetworkCase& before, std::vector<std::int32_t> node_of_rank,
                                      std::string change) {
  if (!before.topology) return Error{ErrorCode::bad_argument, "only routes are known, not the network: --topology"};
  auto set = own_routes(before.traffic, *before.topology, node_of_rank);
  if (!set) return set.error();
  auto made = std::make_shared<NetworkCase>(before);
  made->routes = std::move(*set);
  made->node_of_rank = std::move(node_of_rank);
  made->routes_from = assumed(*before.topology);
  made->change = std::move(change);
  if (made->topology->text().starts_with("nodes:"))
    made->links = std::make_shared<LinkGraph>(LinkGraph::of(made->routes));
  add_up(*made);
  return NetworkCasePtr(std::move(made));
}

Result<NetworkCasePtr> with_traffic(const NetworkCase& before, mapping::Traffic traffic, std::string traffic_from) {
  if (!before.topology) return Error{ErrorCode::bad_argument, "only routes are known, not the network: --topology"};
  auto set = own_routes(traffic, *before.topology, before.node_of_rank);
  if (!set) return set.error();
  auto made = std::make_shared<NetworkCase>(before);
  made->traffic = std::move(traffic);
  made->traffic_from = std::move(traffic_from);
  made->routes = std::move(*set);
  made->routes_from = assumed(*before.topology);
  if (made->topology->text().starts_with("nodes:"))
    made->links = std::make_shared<LinkGraph>(LinkGraph::of(made->routes));
  add_up(*made);
  return NetworkCasePtr(std::move(made));
}

std::string vertex_name(const NetworkCase& network, std::int32_t vertex) {
  const auto at = static_cast<std::size_t>(vertex);
  const std::string called = at < network.node_names.size() ? network.node_names[at] + " " : "";
  if (at < network.routes.coordinates.size() && network.routes.coordinates[at].size() > 1) {
    std::string name = called + "(";
    for (const std::int32_t coordinate : network.routes.coordinates[at])
      name += (name.back() != '(' ? " " : "") + std::to_string(coordinate);
    return name + ")";
  }
  if (!called.empty()) return network.node_names[at];
  return network.topology ? network.topology->title(vertex) : std::to_string(vertex);
}

std::string rank_name(const NetworkCase& network, std::int32_t rank) {
  const auto at = static_cast<std::size_t>(rank);
  return std::to_string(at < network.rank_names.size() ? network.rank_names[at] : rank);
}

}  // namespace pclscope::session
