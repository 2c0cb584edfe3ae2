// The curves of a dependency graph's edges. Bundled by the hierarchy: an edge leaves its node at the right and enters
// at the left in one point with all others of the node; layers in between are passed in the lanes between their glyphs,
// which all edges through share; and between two layers, those that run from about the same to about the same place
// are drawn together in the middle. End points do not move.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/layout/dag_layout.hpp"

namespace pclscope::layout {

inline constexpr float port = 1.45f;  // from a glyph's middle to where its edges begin: beyond the bars

struct DagRoute {
  std::int32_t edge = 0;     // index in Dag::edges
  std::vector<Point> knots;  // x ascends from the first to the last
};

// Of all edges that can be, in their order.
std::vector<DagRoute> route_edges(const Dag& dag, const DagLayout& layout);

// The smooth curve through the knots (monotone cubic: it does not overshoot them), flat at both ends, as a polyline
// in the knots' unit; `zoom` pixels are one unit.
void sample_route(const std::vector<Point>& knots, float zoom, std::vector<Point>& points);

}  // namespace pclscope::layout
