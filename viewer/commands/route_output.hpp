// What `pclscope route` says, as tables and as JSON (docs/json.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/reroute.hpp"
#include "viewer/commands/route_input.hpp"
#include "viewer/session/summary_json.hpp"

namespace pclscope::commands {

struct RouteState {  // of all routes, at one time
  std::vector<mapping::Route> routes;
  mapping::LinkLoads loads;
  mapping::LoadSummary summary;
  std::vector<double> heaviest;  // of each route
};

struct RouteAnswer {
  const RouteInput& input;
  mapping::RouteMetric metric = mapping::RouteMetric::load;
  std::size_t top = 10;
  RouteState before;
  std::optional<RouteState> after;  // when there was something to reroute
  std::vector<std::size_t> chosen;  // indices of the routes that might change
  mapping::RerouteRule rule;
};

// How much lighter the heaviest links of the chosen routes have become: shares, of those where it is lighter.
struct Relief {
  std::size_t routes = 0;
  double mean = 0;
  double most = 0;
};
Relief relief_of(const RouteAnswer& answer);  // needs `after`

RouteState state_of(const mapping::LinkGraph& graph, std::vector<mapping::Route> routes);
std::vector<std::string> route_page(const RouteAnswer& answer, std::size_t width);
session::Json route_json(const RouteAnswer& answer);

}  // namespace pclscope::commands
