// The tree that regions are a cut of (Dendrogram in analysis/values/snapshot.hpp): putting it together, and cutting it
// elsewhere.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/region/linkage.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

// Collects the trees of connected components.
class Forest {
 public:
  explicit Forest(std::int32_t ranks);
  // leaf_of_member[i], in [0, leaves): of ranks[i]. Merges as link_clusters gives them.
  void add(std::span<const std::int32_t> ranks, std::span<const std::int32_t> leaf_of_member, std::int32_t leaves,
           std::span<const Merge> merges);
  // Leaves numbered by smallest rank, merges of all trees by height; the left side has the smaller leaf.
  Dendrogram take();

 private:
  struct Made {
    Merge merge;  // clusters of its tree
    std::size_t tree;
    std::int32_t cluster;  // that it makes, in its tree
  };
  std::vector<std::int32_t> leaf_of_rank_;
  std::vector<std::int32_t> leaves_of_tree_;
  std::int32_t leaves_ = 0;
  std::vector<Made> merges_;
};

// Leaves of a dendrogram that is not damaged: 0 .. this - 1, each with at least one rank.
std::int32_t leaves_of(const Dendrogram& dendrogram);

// `damaged` unless leaves are numbered without a gap, every merge joins two different clusters made before that were
// not joined yet, and heights are finite and ascend.
Status check(const Dendrogram& dendrogram);

// Other cuts. All check the dendrogram first (it may come from a file); regions are numbered by smallest rank, ranks
// without a leaf are in none, modularity is 0 where no graph is given.
//
// All merges with height <= `height`; NaN is `bad_argument`. For the method correlation that is minus the correlation.
Result<Partition> cut_at(const Dendrogram& dendrogram, double height);
// Into as near to `regions` as there is a cut by height: never fewer than trees, never more than leaves.
Result<Partition> cut_into(const Dendrogram& dendrogram, std::int32_t regions);
// The cut, not necessarily level, with the largest modularity on this graph: `bad_argument` if it has other ranks.
Result<Partition> cut_best(const Dendrogram& dendrogram, const CommunicationGraph& graph);

}  // namespace pclscope
