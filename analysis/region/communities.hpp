// Searches the partition of largest modularity, from a good one: what a cut through a tree and refinement leave
// undone, because their optimum is a local one.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

// label[rank] >= 0, numbered by smallest rank, replaced when a better partition is found (by more than rounding):
//   1. `settle` (refine.hpp) from the given partition, and from single ranks; the better one goes on;
//   2. each community alone, and with each of the three it exchanges most with, is clustered anew from single ranks;
//   3. `shakes` times: half the communities, or two ranks in five, are taken apart and settle again. The choice is
//      pseudo-random with a fixed seed: the same graph in the same order gives the same result.
// `total` = the sum of degrees of the whole graph of which this may be a component. Returns whether it changed.
bool improve_communities(const CommunicationGraph& graph, double total, int shakes, std::vector<std::int32_t>& label);

}  // namespace pclscope
