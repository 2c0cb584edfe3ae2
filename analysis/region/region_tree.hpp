// A tree that has given regions among its cuts.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/linkage.hpp"

namespace pclscope {

// Average linkage within each region, then of the regions by their average distances; a merge is at least as high as
// those it joins. Where the regions are a cut of the plain average linkage tree this is that tree: average linkage
// never looks outside what it joins. region_of_leaf 0.., numbered by smallest leaf; size as in link_clusters.
std::vector<Merge> link_regions(const Eigen::MatrixXd& distance, std::span<const double> size,
                                std::span<const std::int32_t> region_of_leaf);

}  // namespace pclscope
