// Where the nodes of a dependency graph stand: layers from left to right in logical order, in each layer rows such that
// edges are short and the nodes of a rank near each other. The unit of length is the radius of a glyph's ring.
// Deterministic; edges that cannot be (out of range, not from a lower to a higher index) are ignored throughout.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/dag.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

inline constexpr float least_row = 3.2f;  // between the middles of two glyphs: bars reach 1.39
inline constexpr float least_column = 6.5f;

bool can_be(const DagEdge& edge, std::size_t nodes);

// The longest path from a node without predecessors, as Dag::nodes[].layer of a sound graph; computed from the edges,
// so that what is wrong in a graph from elsewhere does no harm.
std::vector<std::int32_t> layers_of(const Dag& dag);

// A height for each node by which the nodes of its layer are sorted, from top to bottom; heights of different layers
// compare, too. Barycentre sweeps to and fro from the order of ranks; the order with the shortest edges (in rows) is
// kept. Of the whole graph: what remains visible when it is folded keeps its order. O(sweeps (n + m) log n).
std::vector<double> row_order(const Dag& dag, std::span<const std::int32_t> layer);

struct DagLayout {
  std::vector<std::int32_t> layer;              // by node
  std::vector<Point> at;                        // by node: the glyph's middle
  std::vector<std::vector<std::int32_t>> rows;  // by layer: nodes from top to bottom
  Rect bounds;                                  // of all glyphs with their bars
  float column = least_column;                  // between layers
};

// `order` from row_order, by node. `aspect`: width by height of the area to fill; distances grow to fit it with so many
// layers beside each other (0: all).
DagLayout lay_out_dag(const Dag& dag, std::span<const double> order, float aspect, std::int32_t layers_in_sight = 0);

}  // namespace pclscope::layout
