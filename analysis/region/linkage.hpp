// Average linkage (UPGMA) of a distance matrix, by nearest-neighbour chains in O(n^2).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

namespace pclscope {

// Leaves are clusters 0..n-1; merge k makes cluster n + k out of `left` and `right` (left has the smaller leaf).
struct Merge {
  std::int32_t left = 0;
  std::int32_t right = 0;
  double height = 0;
};

// n - 1 merges in ascending height. Equal distances are decided by the smaller index; distances count as equal
// when they agree to nine digits, so that rounding does not decide. The matrix is used up.
std::vector<Merge> average_linkage(Eigen::MatrixXd distance);

// Cluster numbers 0.. of the leaves after all merges with height <= threshold, numbered by smallest leaf.
std::vector<std::int32_t> cut_at_height(const std::vector<Merge>& merges, double threshold);

}  // namespace pclscope
