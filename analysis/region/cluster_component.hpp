// One connected component: its regions, and the tree of which they are a cut.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/region/linkage.hpp"

namespace pclscope {

struct ClusteredComponent {
  std::vector<std::int32_t> region_of_rank;  // 0..
  std::vector<std::int32_t> leaf_of_rank;    // of the tree; the ranks of a leaf are in one region
  std::int32_t leaves = 0;
  std::vector<Merge> merges;  // ascending height; fewer than leaves - 1 when there are too many leaves
};

// `component` must be connected and in canonical order; `total` = the sum of degrees of the whole graph; `shakes` as in
// communities.hpp.
ClusteredComponent cluster_component(const CommunicationGraph& component, double total, const RegionOptions& options,
                                     int shakes);

}  // namespace pclscope
