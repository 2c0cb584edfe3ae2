// What `pclscope map` works on: traffic with its network and the nodes' capacities, from a dump, a running job or a
// traffic file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/topology.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::commands {

struct MapInputWords {
  std::string target;    // a file, or a job's name
  std::string topology;  // empty: nodes:K of a run
  std::optional<std::int32_t> ranks_per_node;
  std::string capacity;    // "4,4,2" for the first nodes, or a file of such numbers
  std::string node_names;  // a file: a name each line
};

struct MapInput {
  mapping::Traffic traffic;
  std::optional<mapping::Topology> topology;
  std::vector<std::int32_t> capacity;
  std::vector<std::int32_t> current;  // empty: in order
  std::vector<std::string> names;     // of the topology's nodes
  bool of_run = false;                // not a traffic file
  std::vector<std::string> notes;     // a line each: what the user should know
};

Result<MapInput> read_map_input(const MapInputWords& words);

}  // namespace pclscope::commands
