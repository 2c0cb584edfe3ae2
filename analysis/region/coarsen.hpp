// Fewer nodes for the dense distance: heavy edges are contracted until at most `limit` groups are left.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

struct Coarsening {
  std::vector<std::int32_t> group;  // of each rank, 0..groups-1
  std::int32_t groups = 0;
};

// Rounds of heavy-edge matching: every node joins the free neighbour that it is bound to most, by edge weight
// and common neighbours. When a round hardly shrinks the graph (stars), nodes left over join a neighbour's group.
// `graph` must be connected.
Coarsening coarsen(const CommunicationGraph& graph, std::int32_t limit);

}  // namespace pclscope
