// Communication regions: ranks that exchange messages with each other much more than with others.
// Free-energy distance, average linkage, cut at maximal modularity; see docs/methods.md, "Regions".
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope {

struct RegionOptions {
  double beta = 1.0;                // inverse temperature of the free-energy distance
  std::int32_t dense_limit = 1024;  // ranks of one connected component beyond which it is coarsened first
};

struct Partition {
  std::vector<std::int32_t> region_of_rank;  // 0.., or -1: the rank exchanged no message with another one
  std::int32_t regions = 0;                  // numbered by smallest rank
  double modularity = 0;
};

// Connected components never share a region.
Partition find_regions(const CommunicationGraph& graph, const RegionOptions& options = {});

}  // namespace pclscope
