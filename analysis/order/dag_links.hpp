// What follows from a graph's nodes: edges and layers.
#pragma once

#include "analysis/values/dag.hpp"

namespace pclscope {

// Fills dag.edges from the messages that nodes sent to nodes with a higher index (others have no edge), ascending by
// (from, to), then the layers: longest path over the edges. Indices of other nodes may be anything.
void link_nodes(Dag& dag);

// Messages that are not edges: sent within a node, and to nodes with a lower index (in folded graphs).
std::uint64_t messages_inside(const Dag& dag);
std::uint64_t messages_returning(const Dag& dag);

}  // namespace pclscope
