// Hierarchical clustering of a distance matrix by nearest-neighbour chains, O(n^2).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

namespace pclscope {

// Leaves are clusters 0..n-1; merge k makes cluster n + k out of `left` and `right` (left has the smaller leaf).
struct Merge {
  std::int32_t left = 0;
  std::int32_t right = 0;
  double height = 0;
};

enum class Linkage { average, single, complete };

// n - 1 merges in ascending height. `size`: how much each leaf weighs in averages; empty: all the same.
// Distances are kept as whole numbers of 2^-30 of the largest one (nine digits), so that those that differ by rounding
// only are equal; ties are decided by the smaller index. Distances must be >= 0; what is not finite counts as the
// largest that is. 4 n^2 bytes.
std::vector<Merge> link_clusters(const Eigen::MatrixXd& distance, Linkage rule = Linkage::average,
                                 std::span<const double> size = {});

inline std::vector<Merge> average_linkage(const Eigen::MatrixXd& distance) { return link_clusters(distance); }

// Cluster numbers 0.. of the leaves after these merges, numbered by smallest leaf. Merges may be of a forest.
std::vector<std::int32_t> cut_after(std::int32_t leaves, std::span<const Merge> merges);
// The same after all merges with height <= threshold; heights ascend.
std::vector<std::int32_t> cut_at_height(std::int32_t leaves, std::span<const Merge> merges, double threshold);

}  // namespace pclscope
