// Where ranks are on a network: for the window, `pclscope map` and `pclscope route` alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/topology.hpp"
#include "analysis/values/machine.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::session {

// The network of a run on these nodes: as Slurm told it, if all of them are in it; else `nodes:K`. `notes`: why Slurm's
// is of no use.
Result<mapping::Topology> topology_of_run(const FoundMachines& found, const std::vector<std::string>& nodes,
                                          std::vector<std::string>& notes);

// A run's nodes in a topology: by name where that has names, else in order.
struct NodeNumbers {
  std::vector<std::int32_t> number;  // of each of the run's nodes
  std::vector<std::string> names;    // of the topology's nodes, by number: the run's own where it had them; without
                                     // names of its own no more than the run had
  // Of ranks on the run's nodes; -1 stays.
  void renumber(std::vector<std::int32_t>& node_of_rank) const;
};
// Errors: a node that is not there, more nodes than there are.
Result<NodeNumbers> number_nodes(const mapping::Topology& topology, const std::vector<std::string>& nodes);

// `each` ranks on each node that takes ranks, in order. Errors: too few nodes.
Result<std::vector<std::int32_t>> place_in_order(const mapping::Topology& topology, std::int32_t ranks,
                                                 std::int32_t each);
// So many ranks on each node; none where there is no node.
std::vector<std::int32_t> equal_capacities(const mapping::Topology& topology, std::int32_t each);

}  // namespace pclscope::session
