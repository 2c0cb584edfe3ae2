#include "viewer/commands/route_input.hpp"

#include <algorithm>

#include "viewer/commands/traffic_source.hpp"
#include "viewer/session/network_source.hpp"
#include "viewer/session/target.hpp"

namespace pclscope::commands {
namespace {

using mapping::Topology;

Error bad(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

std::int32_t name_of(const std::vector<std::int64_t>& names, std::int32_t rank) {
  if (names.empty()) return rank;
  return static_cast<std::int32_t>(std::min<std::int64_t>(names[static_cast<std::size_t>(rank)], INT32_MAX));
}

// From here on ranks are called as in the file.
void use_names(const std::vector<std::int64_t>& names, mapping::RouteSet& set) {
  if (names.empty()) return;
  for (auto& number : set.number)
    number = static_cast<std::size_t>(number) < names.size()
                 ? name_of(names, number)
                 : number + name_of(names, static_cast<std::int32_t>(names.size()) - 1);
  std::unordered_map<std::int32_t, mapping::RankPlace> places;
  for (const auto& [rank, place] : set.places) places[name_of(names, rank)] = place;
  set.places = std::move(places);
  for (mapping::Route& route : set.routes) {
    route.source = name_of(names, route.source);
    route.destination = name_of(names, route.destination);
  }
}

Result<session::NetworkFacts> read_facts(const RouteInputWords& words) {
  const session::NetworkWords network{words.topology, {}, words.ranks_per_node};
  if (session::is_existing_file(words.target) && !is_dump(words.target))
    return session::read_network_file(words.target, network);
  auto run = open_run_with_news(words.target);
  if (!run) return run.error();
  return session::read_network_of_run(*run->session, run->news, words.target, network);
}

Result<RouteInput> from_traffic(const RouteInputWords& words) {
  auto facts = read_facts(words);
  if (!facts) return facts.error();
  // A rank that has not shown up sent nothing: anywhere will do.
  for (auto& node : facts->node_of_rank) node = std::max(node, 0);
  auto set = routes_of(facts->traffic, *facts->topology, facts->node_of_rank);
  if (!set) return Error{set.error().code, words.target + ": " + set.error().message};
  use_names(facts->rank_names, *set);
  RouteInput input;
  if (facts->topology->text().starts_with("nodes:")) input.node_names = std::move(facts->node_names);
  input.set = std::move(*set);
  input.topology = facts->topology;
  return input;
}

Result<RouteInput> from_route_file(const RouteInputWords& words, std::shared_ptr<const Topology> topology) {
  if (words.ranks_per_node) return bad("a route file says itself where its ranks are: --ranks-per-node is for traffic");
  auto file = read_routes(words.target, topology.get());
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
    flow = {name_of(placed->names, flow.source), name_of(placed->names, flow.destination), flow.messages, flow.bytes};
  const std::size_t found = set_bytes(input.set, placed->traffic), all = input.set.routes.size();
  if (found == 0) return bad(words.traffic + " has bytes for none of the routes");
  if (found < all) input.bytes_from = std::to_string(all - found) + " routes have no traffic";
  return input;
}

}  // namespace

Result<RouteInput> read_route_input(const RouteInputWords& words) {
  const bool routes = session::is_existing_file(words.target) && mapping::is_route_file(words.target);
  if (!routes && !words.traffic.empty()) return bad("--traffic is for route files; " + words.target + " is none");
  std::shared_ptr<const Topology> topology;
  if (routes && !words.topology.empty()) {
    auto parsed = Topology::parse(words.topology);
    if (!parsed) return parsed.error();
    topology = std::make_shared<const Topology>(std::move(*parsed));
  }
  auto input = routes ? from_route_file(words, std::move(topology)) : from_traffic(words);
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
