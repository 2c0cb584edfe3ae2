// Where the critical path (analysis/delay/critical_path.hpp) passes through a dependency graph: from node to node of a
// rank, and to another rank by the message for which one waited. Where it runs through a collective, or ranks that are
// not in the graph, there is a gap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/delay/critical_path.hpp"
#include "analysis/values/dag.hpp"

namespace pclscope::layout {

// Nodes of the graph in the order of time, without gaps; a piece has at least one.
using DagPathPiece = std::vector<std::int32_t>;

std::vector<DagPathPiece> path_in_dag(const Dag& dag, std::span<const PathStep> steps);

}  // namespace pclscope::layout
