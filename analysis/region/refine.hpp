// Makes a partition better in modularity than a cut through a tree can be: single ranks and groups of them move,
// communities merge and split (Traag, Waltman, van Eck 2019: the Leiden algorithm, here without chance).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

// label[rank] in [0, ranks), changed in place and numbered anew by smallest rank; `total` = the sum of degrees of the
// whole graph of which this may be a component. In turn, until nothing gains (at most 16 times):
//   1. ranks move to the community, or to an empty one, where modularity gains most;
//   2. within each community ranks are grouped, from single ones, by gain; the groups become nodes, and all starts
//      again with them: groups move, and when a community is one node, communities merge.
// Modularity never falls. Ranks are visited in their order: the result depends on it where gains are equal.
// Returns whether anything moved. Time a small multiple of the number of edges per round.
bool refine_communities(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label);

bool resolve_pairs(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label);

// Numbers labels 0.. by smallest rank; returns how many there are. Negative ones stay.
std::int32_t number_labels(std::span<std::int32_t> label);

}  // namespace pclscope
