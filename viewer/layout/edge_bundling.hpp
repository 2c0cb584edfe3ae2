// Force-directed edge bundling: D. Holten and J. J. van Wijk, "Force-directed edge bundling for graph visualization",
// EuroVis 2009. Edges that run alike attract each other and merge into bundles; ends stay exactly where they are.
// The cost is bounded: each edge listens to its `partners` most compatible ones only. Pure and deterministic.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

struct StraightEdge {
  Point from;
  Point to;
};

struct BundlingOptions {
  std::size_t most_edges = 3000;  // those behind come out straight: callers put the important ones first
  std::size_t partners = 20;      // of an edge
  double compatible = 0.6;        // least compatibility (0..1) of edges that attract each other
  double stiffness = 0.1;         // K of the paper
  int cycles = 5;                 // each doubles the points; 2^cycles segments at the end
  int first_iterations = 40;      // of the first cycle; each has 2/3 of those before
};

// The compatibility of two edges, in [0, 1]: the product of angle, scale, position and visibility (section 3.2).
double edge_compatibility(const StraightEdge& p, const StraightEdge& q);

// One polyline per edge, in their order; first and last point are `from` and `to` to the bit. An edge without a
// partner, of no length, or not finite comes out as its two ends. `stopping` true: gives up early, with what there is.
std::vector<std::vector<Point>> bundle_edges(std::span<const StraightEdge> edges, const BundlingOptions& options = {},
                                             const std::function<bool()>& stopping = {});

}  // namespace pclscope::layout
