#include "viewer/commands/route_input.hpp"

#include <algorithm>

#include "analysis/mapping/node_match.hpp"
#include "viewer/commands/traffic_source.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

using mapping::goes_by_name;
using mapping::match_nodes;
using mapping::Topology;

Error bad(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

std::int32_t name_of(const SourcedTraffic& placed, std::int32_t rank) {
  if (placed.names.empty()) return rank;
  return static_cast<std::int32_t>(std::min<std::int64_t>(placed.names[static_cast<std::size_t>(rank)], INT32_MAX));
}

// From here on ranks are called as in the file.
void use_names(const SourcedTraffic& placed, mapping::RouteSet& set) {
  if (placed.names.empty()) return;
  for (auto& number : set.number) {
    const auto rank = static_cast<std::size_t>(number);
    number = rank < placed.names.size() ? name_of(placed, number)
                                        : number + name_of(placed, static_cast<std::int32_t>(placed.names.size()) - 1);
  }
  std::unordered_map<std::int32_t, mapping::RankPlace> places;
  for (const auto& [rank, place] : set.places) places[name_of(placed, rank)] = place;
  set.places = std::move(places);
  for (mapping::Route& route : set.routes) {
    route.source = name_of(placed, route.source);
    route.destination = name_of(placed, route.destination);
  }
}

// Rank r on node r / n, or as the run had it.
Status place(const RouteInputWords& words, const Topology& topology, SourcedTraffic& placed) {
  if (!placed.of_run || words.ranks_per_node) {
    const std::int32_t each = words.ranks_per_node.value_or(1);
    const std::int64_t slots = std::int64_t{topology.nodes()} * each;
    if (placed.traffic.ranks > slots) {
      return bad(std::to_string(placed.traffic.ranks) + " ranks, but " + topology.text() + " has " +
                 std::to_string(topology.nodes()) + " nodes for " + std::to_string(each) +
                 (each == 1 ? " rank" : " ranks") + " each: give a larger one, or --ranks-per-node " +
                 std::to_string((placed.traffic.ranks + topology.nodes() - 1) / topology.nodes()));
    }
    placed.node_of_rank.clear();
    for (std::int32_t rank = 0; rank < placed.traffic.ranks; ++rank) placed.node_of_rank.push_back(rank / each);
  } else if (goes_by_name(topology, placed.nodes)) {
    const auto nodes = match_nodes(topology, placed.nodes);
    if (!nodes) return nodes.error();
    for (std::int32_t& node : placed.node_of_rank)
      if (node >= 0) node = (*nodes)[static_cast<std::size_t>(node)];
  }
  // A rank that has not shown up sent nothing: anywhere will do.
  for (auto& node : placed.node_of_rank) node = std::max(node, 0);
  if (static_cast<std::int64_t>(placed.nodes.size()) > topology.nodes())
    return bad("the run had " + std::to_string(placed.nodes.size()) + " nodes, " + topology.text() + " has " +
               std::to_string(topology.nodes()));
  return {};
}

Result<RouteInput> from_traffic(const RouteInputWords& words, std::optional<Topology> topology) {
  auto placed = read_traffic_source(words.target);
  if (!placed) return placed.error();
  if (!topology) {
    if (placed->nodes.empty())
      return bad(words.target +
                 " does not say on which network it was: --topology is needed, as in --topology torus:4x4x2");
    auto plain = Topology::parse("nodes:" + std::to_string(placed->nodes.size()));
    if (!plain) return plain.error();
    topology = std::move(*plain);
  }
  if (const Status status = place(words, *topology, *placed); !status) return status.error();
  auto set = routes_of(placed->traffic, *topology, placed->node_of_rank);
  if (!set) return Error{set.error().code, words.target + ": " + set.error().message};
  use_names(*placed, *set);
  RouteInput input;
  if (words.topology.empty()) input.node_names = std::move(placed->nodes);
  input.set = std::move(*set);
  input.topology = std::move(topology);
  return input;
}

Result<RouteInput> from_route_file(const RouteInputWords& words, std::optional<Topology> topology) {
  if (words.ranks_per_node) return bad("a route file says itself where its ranks are: --ranks-per-node is for traffic");
  auto file = read_routes(words.target, topology ? &*topology : nullptr);
  if (!file) return file.error();
  RouteInput input;
  input.set = std::move(file->set);
  input.topology = std::move(topology);
  input.problems = std::move(file->problems);
  input.problem_count = file->problem_count;
  if (words.traffic.empty()) {
    input.bytes_from = "A byte for each route: --traffic FILE gives the bytes";
    return input;
  }
  auto placed = read_traffic_source(words.traffic);
  if (!placed) return placed.error();
  for (mapping::Flow& flow : placed->traffic.flows)
    flow = {name_of(*placed, flow.source), name_of(*placed, flow.destination), flow.messages, flow.bytes};
  const std::size_t found = set_bytes(input.set, placed->traffic), all = input.set.routes.size();
  if (found == 0) return bad(words.traffic + " has bytes for none of the routes");
  if (found < all) input.bytes_from = std::to_string(all - found) + " routes have no traffic";
  return input;
}

}  // namespace

Result<RouteInput> read_route_input(const RouteInputWords& words) {
  std::optional<Topology> topology;
  if (!words.topology.empty()) {
    auto parsed = Topology::parse(words.topology);
    if (!parsed) return parsed.error();
    topology = std::move(*parsed);
  }
  const bool routes = session::is_existing_file(words.target) && mapping::is_route_file(words.target);
  if (!routes && !words.traffic.empty()) return bad("--traffic is for route files; " + words.target + " is none");
  auto input = routes ? from_route_file(words, std::move(topology)) : from_traffic(words, std::move(topology));
  if (!input) return input;
  if (!input->topology) {
    input->graph = std::make_unique<mapping::LinkGraph>(mapping::LinkGraph::of(input->set));
    return input;
  }
  auto graph = mapping::LinkGraph::of(*input->topology);
  if (!graph) return graph.error();
  input->graph = std::make_unique<mapping::LinkGraph>(std::move(*graph));
  return input;
}

}  // namespace pclscope::commands
