#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/commands/route_output.hpp"

namespace pclscope::commands {
namespace {

using mapping::Route;
using session::finite;
using session::Json;

Json vertex_json(const RouteInput& input, std::int32_t vertex) {
  if (static_cast<std::size_t>(vertex) < input.node_names.size())
    return input.node_names[static_cast<std::size_t>(vertex)];
  if (input.topology && input.topology->coordinates(vertex).empty()) return input.topology->name(vertex);
  return input.set.coordinates[static_cast<std::size_t>(vertex)];
}

Json path_json(const RouteInput& input, const std::vector<std::int32_t>& path) {
  Json array = Json::array();
  for (const std::int32_t vertex : path) array.push_back(vertex_json(input, vertex));
  return array;
}

Json route_of(const RouteInput& input, const Route& route, double heaviest) {
  return {{"source", route.source},
          {"destination", route.destination},
          {"hops", route.length()},
          {"bytes", finite(route.bytes)},
          {"hop_bytes", finite(route.hop_bytes())},
          {"heaviest_link_bytes", finite(heaviest)},
          {"path", path_json(input, route.path)}};
}

Json state_json(const RouteAnswer& answer, const RouteState& state) {
  std::int32_t longest = 0;
  std::size_t between = 0;
  for (const Route& route : state.routes) {
    longest = std::max(longest, route.length());
    between += route.length() > 0;
  }
  Json links = Json::array();
  for (const auto& link : heaviest_links(*answer.input.graph, state.loads, answer.top)) {
    links.push_back({{"from", vertex_json(answer.input, link.from)},
                     {"to", vertex_json(answer.input, link.to)},
                     {"bytes", finite(link.bytes)},
                     {"bytes_back", finite(link.back)}});
  }
  return {{"routes", state.routes.size()},
          {"routes_between_nodes", between},
          {"mean_hops", finite(mapping::mean_length(state.routes))},
          {"most_hops", longest},
          {"hop_bytes", finite(state.summary.total)},
          {"max_link_bytes", finite(state.summary.largest)},
          {"mean_link_bytes", finite(state.summary.mean)},
          {"links", state.summary.links},
          {"used_links", state.summary.used},
          {"heaviest_links", links}};
}

Json reroute_json(const RouteAnswer& answer) {
  Json routes = Json::array();
  std::size_t changed = 0;
  for (const std::size_t i : answer.chosen) {
    const Route &old_route = answer.before.routes[i], &route = answer.after->routes[i];
    if (old_route.path == route.path) continue;
    ++changed;
    routes.push_back({{"source", route.source},
                      {"destination", route.destination},
                      {"hops_before", old_route.length()},
                      {"hops_after", route.length()},
                      {"heaviest_link_bytes_before", finite(answer.before.heaviest[i])},
                      {"heaviest_link_bytes_after", finite(answer.after->heaviest[i])},
                      {"path", path_json(answer.input, route.path)}});
  }
  const Relief relief = relief_of(answer);
  return {{"criterion", answer.rule.criterion == mapping::Criterion::load ? "load" : "length"},
          {"delta", answer.rule.delta},
          {"asked", answer.chosen.size()},
          {"changed", changed},
          {"relieved", relief.routes},
          {"mean_relief", finite(relief.mean)},
          {"most_relief", finite(relief.most)},
          {"after", state_json(answer, *answer.after)},
          {"routes", routes}};
}

}  // namespace

Json route_json(const RouteAnswer& answer) {
  Json json{{"topology", answer.input.topology ? Json(answer.input.topology->text()) : Json(nullptr)}};
  json.update(state_json(answer, answer.before));
  Json worst = Json::array();
  for (const std::size_t i : rank_routes(answer.before.routes, answer.metric, answer.before.heaviest)) {
    if (worst.size() == answer.top) break;
    worst.push_back(route_of(answer.input, answer.before.routes[i], answer.before.heaviest[i]));
  }
  json["worst_routes"] = worst;
  json["reroute"] = answer.after ? reroute_json(answer) : Json(nullptr);
  json["partial"] = answer.input.problem_count > 0;
  json["problems"] = answer.input.problem_count;
  Json told = Json::array();
  for (const auto& problem : answer.input.problems) told.push_back({{"line", problem.line}, {"what", problem.what}});
  json["problem_lines"] = told;
  return json;
}

}  // namespace pclscope::commands
