// The CS-glyph (communication state) of a node of the dependency graph, after Figure 9 of PCLVis, as plain values: the
// unit is the ring's radius, the middle is (0, 0), angles are radians clockwise from the right (y grows downwards).
//
// An ellipse with the rank in the middle: its colour is the compute node's latency, its flatness LB_p. Bars stand on
// the ring, one per message: inside what was received, outside what was sent. A bar's length, along the ring, is the
// transmission time; its height, away from the ring, the message's size; its colour L.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/dag.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

// Received bars end at `inside_ring`, sent ones begin at `outside_ring`; the highest reach `lowest_bar` and
// `highest_bar`.
inline constexpr float inside_ring = 0.97f, outside_ring = 1.03f;
inline constexpr float highest_height = 0.36f, least_height = 0.05f;
inline constexpr float lowest_bar = inside_ring - highest_height, highest_bar = outside_ring + highest_height;
inline constexpr float ellipse_half_width = 0.54f, flattest = 0.15f;
inline constexpr float least_length = 0.05f;  // radians: what is short stays visible
inline constexpr std::size_t most_bars = 48;  // of a side; beyond, consecutive messages share bars

// The same for all glyphs of a graph, so that they compare.
struct GlyphScale {
  double full_ring_s = 0;    // lengths are linear in time: this much is once around the ring
  double largest_bytes = 0;  // heights are logarithmic (sizes go from bytes to megabytes): this is the highest
};
// Once around the ring: what all but 2 % of the graph's (node, side) pairs stay below in sum.
GlyphScale glyph_scale(const Dag& dag);

struct GlyphBar {
  bool sent = false;
  std::uint32_t first = 0;  // index in DagNode::sent or received
  std::uint32_t count = 1;  // messages that share the bar: times added, mean of the sizes, largest L
  float from = 0, to = 0;   // angles, from < to
  float inner = 0, outer = 0;
  double ratio = 0;  // L; 0: not known
};

struct CsGlyph {
  float half_width = ellipse_half_width;
  float half_height = ellipse_half_width;
  std::vector<GlyphBar>
      bars;  // received ones first; those around the left, sent ones around the right, in logical order
};

// half_height / half_width of the ellipse: 1 (a circle) for LB 0, falling with LB, never below `flattest`.
float roundness(double load_balance);
// 0 .. highest_height.
float bar_height(double bytes, const GlyphScale& scale);
CsGlyph cs_glyph(const DagNode& node, double load_balance, const GlyphScale& scale);

// The bar as a strip of quads, points alternating on the inner and the outer circle, around `middle` with a ring of
// `radius`.
void bar_strip(const GlyphBar& bar, Point middle, float radius, std::vector<Point>& points);

// The bar under a point relative to the middle in ring radii; -1: none.
int bar_at(const CsGlyph& glyph, Point at);

}  // namespace pclscope::layout
