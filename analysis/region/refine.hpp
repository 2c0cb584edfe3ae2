// Makes a partition better in modularity: single nodes and groups of them move, communities merge and split
// (Traag, Waltman, van Eck 2019: the Leiden algorithm, here without chance).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

// A node may stand for several ranks: mass[node] = sum of their degrees, which counts edges inside the node that the
// graph leaves out. `total` = the sum of degrees of the whole graph of which this may be a part. label[node] >= 0,
// changed in place and numbered anew by smallest node. In turn, until nothing gains (at most 16 times):
//   1. nodes move to the community, or to an empty one, where modularity gains most;
//   2. within each community nodes are grouped, from single ones, by gain; the groups become nodes, and all starts
//      again with them: groups move, and where a community is one node, communities merge.
// Modularity never falls. Nodes are visited in their order; the result depends on it where gains are equal or optima
// are local. Returns whether anything moved. Time a small multiple of the number of edges per round.
bool settle(const CommunicationGraph& graph, std::span<const double> mass, double total,
            std::vector<std::int32_t>& label);

// Numbers labels 0.. by smallest node; returns how many there are. Negative ones stay.
std::int32_t number_labels(std::span<std::int32_t> label);

}  // namespace pclscope
