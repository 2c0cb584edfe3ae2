// What a network looks like: a grid of coordinates, a dragonfly, a fat tree; where its vertices lie at once, and which
// of them may be merged into one. Plain functions of a NetworkCase.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/layout/geometry.hpp"
#include "viewer/session/network_case.hpp"

namespace pclscope::layout {

enum class NetworkKind : std::uint8_t { grid, dragonfly, fat_tree, other };

struct NetworkShape {
  NetworkKind kind = NetworkKind::other;
  // Of a grid the size of each dimension, the last one the fastest; of a dragonfly groups, routers, nodes; of a fat
  // tree down-degrees from the leaf switches up.
  std::vector<std::int32_t> sizes;
};
NetworkShape shape_of(const session::NetworkCase& network);

// A way to merge vertices that users can choose: of a grid a dimension, of the others a level.
struct MergeOffer {
  std::string name;     // "A", "routers"
  std::string meaning;  // "nodes that differ in A alone become one"
};
std::vector<MergeOffer> merge_offers(const NetworkShape& shape);

// A bit for each offer. Of a grid dimensions merge together; of levels the highest counts.
using Merged = std::uint32_t;

struct Grouping {
  std::vector<std::int32_t> group;  // of each vertex; in the order of their first vertices
  std::int32_t groups = 0;
};
Grouping group_vertices(const session::NetworkCase& network, const NetworkShape& shape, Merged merged);

// Where things are: neighbours about 1 apart.
struct VertexPlaces {
  std::vector<Point> at;  // of each vertex
};
// By coordinates, or by groups and levels: at once. Dimensions lie by turns along the two axes, each nested in the
// next, rings folded so that the first and the last place are neighbours. Not for NetworkKind::other.
// `without`: of a grid dimensions that do not count, as if all were at one place of them.
VertexPlaces place_by_shape(const NetworkShape& shape, const session::NetworkCase& network, Merged without = 0);
// Of the groups of a grid: by the dimensions that are left.
std::vector<Point> place_groups_by_shape(const NetworkShape& shape, const session::NetworkCase& network, Merged merged,
                                         const Grouping& grouping);
// For any network, deterministic, in a moment: from each vertex's distances to some that lie far apart (Harel, Koren,
// Graph Drawing by High-Dimensional Embedding, 2002), on their two principal axes. Parts that do not reach each other
// lie side by side.
VertexPlaces place_by_distances(const mapping::LinkGraph& graph);

// Scales so that the median link of the graph is 1 long, and moves the middle to the origin.
void normalise(VertexPlaces& places, const mapping::LinkGraph& graph);

}  // namespace pclscope::layout
