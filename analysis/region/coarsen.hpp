// Fewer nodes for the dense distance: heavy edges are contracted until at most `limit` groups are left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

struct Coarsening {
  std::vector<std::int32_t> group;  // of each rank, 0..groups-1
  std::int32_t groups = 0;
};

// Rounds of heavy-edge matching: every node joins the free neighbour that it is bound to most, by edge weight
// and common neighbours. When a round hardly shrinks the graph (stars), nodes left over join a neighbour's group.
// `graph` must be connected. keep_apart: ranks of different labels (empty: all the same) never share a group; then more
// groups than `limit` may be left.
Coarsening coarsen(const CommunicationGraph& graph, std::int32_t limit, std::span<const std::int32_t> keep_apart = {});

}  // namespace pclscope
