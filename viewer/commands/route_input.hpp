// What `pclscope route` looks at: routes with their network, from a route file, a traffic file, a dump or a running
// job.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/link_load.hpp"
#include "analysis/mapping/route_file.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::commands {

struct RouteInputWords {
  std::string target;   // a file, or a job's name
  std::string traffic;  // bytes for a route file
  std::string topology;
  std::optional<std::int32_t> ranks_per_node;  // rank r on node r / this; not given: as the dump or job says, else 1
};

struct RouteInput {
  mapping::RouteSet set;
  std::shared_ptr<const mapping::Topology> topology;  // none for a route file alone
  std::unique_ptr<mapping::LinkGraph> graph;          // its links, or those that the routes use
  std::vector<std::string> node_names;                // of a run without a known network
  std::string bytes_from;  // "", or what to say of the bytes: a byte per route, routes without traffic
  std::vector<mapping::RouteProblem> problems;  // of a route file
  std::size_t problem_count = 0;
};

Result<RouteInput> read_route_input(const RouteInputWords& words);

}  // namespace pclscope::commands
