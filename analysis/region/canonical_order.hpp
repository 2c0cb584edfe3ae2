// An order of the ranks that follows from the graph alone, not from the ranks' numbers: what is computed in this
// order, with all its ties and roundings, comes out the same after any relabelling.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

// Colour refinement of the weighted graph (ranks differ when the multisets of weights to some class of ranks differ),
// smaller half first; where classes of several ranks are left, the largest rank of the first class is set apart and
// refinement goes on. Returns the ranks in that order. Time O(edges log ranks).
//
// Two relabelled copies of a graph, each brought into its order, are the same graph whenever the ranks of a class
// that is left are equivalent (an automorphism maps one to the other). That holds for trees, tori, boxes, cubes,
// grids of CG, for copies of parts, and whenever weights tell ranks apart. It need not hold for regular graphs
// without symmetry all of whose weights are equal: there the ranks' numbers decide.
std::vector<std::int32_t> canonical_order(const CommunicationGraph& graph);

}  // namespace pclscope
