// Communication regions: ranks that exchange messages with each other much more than with others.
// See docs/methods.md, "Regions", for the three methods.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/graph.hpp"
#include "analysis/region/method.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

struct RegionOptions {
  double beta = 1.0;  // inverse temperature of the free-energy distance; kept within 0.001..20
  // Ranks of one connected component beyond which it is coarsened to half of that. 0: 768, where the dense distance
  // takes about 40 ms; 2,048 for the other methods, which are cheaper and know no weights to coarsen well by.
  std::int32_t dense_limit = 0;
  RegionMethod method = RegionMethod::free_energy;
  double threshold = 2.0;  // method paper: clusters farther apart than this stay apart
};

struct Partition {
  std::vector<std::int32_t> region_of_rank;  // 0.., or -1: the rank exchanged no message with another one
  std::int32_t regions = 0;                  // numbered by smallest rank
  double modularity = 0;                     // 0 when the graph was not at hand
};

// Connected components never share a region. `dendrogram`, if not null, gets the tree whose cut the regions are; its
// leaves are ranks, or groups of ranks where a component was coarsened.
//
// The result does not depend on the ranks' numbers as far as canonical_order.hpp can tell ranks apart: relabelled ranks
// have the relabelled regions, up to a symmetry of the graph. Time and memory are bounded by O(edges log ranks) and
// dense_limit^3 resp. ^2 for any method; the numbers of simple paths or shortest paths do not matter.
Partition find_regions(const CommunicationGraph& graph, const RegionOptions& options = {},
                       Dendrogram* dendrogram = nullptr);

}  // namespace pclscope
