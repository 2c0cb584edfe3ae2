#include "analysis/region/dendrogram.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/region/modularity.hpp"
#include "analysis/region/refine.hpp"

namespace pclscope {

namespace {

Error damaged(const char* what) {
  return {ErrorCode::damaged, std::string("the stored dendrogram is damaged (") + what + "): no other cut can be made"};
}

std::vector<Merge> merges_of(const Dendrogram& dendrogram) {
  std::vector<Merge> merges;
  merges.reserve(dendrogram.merges.size());
  for (const DendrogramMerge& m : dendrogram.merges) merges.push_back({m.left, m.right, m.height});
  return merges;
}

Partition partition_by(const Dendrogram& dendrogram, const std::vector<std::int32_t>& label_of_leaf) {
  Partition partition;
  partition.region_of_rank.reserve(dendrogram.leaf_of_rank.size());
  for (const std::int32_t leaf : dendrogram.leaf_of_rank)
    partition.region_of_rank.push_back(leaf < 0 ? -1 : label_of_leaf[leaf]);
  partition.regions = number_labels(partition.region_of_rank);
  return partition;
}

}  // namespace

Forest::Forest(std::int32_t ranks) : leaf_of_rank_(static_cast<std::size_t>(std::max(ranks, 0)), -1) {}

void Forest::add(std::span<const std::int32_t> ranks, std::span<const std::int32_t> leaf_of_member, std::int32_t leaves,
                 std::span<const Merge> merges) {
  for (std::size_t i = 0; i < ranks.size(); ++i) leaf_of_rank_[ranks[i]] = leaves_ + leaf_of_member[i];
  for (std::size_t k = 0; k < merges.size(); ++k)
    merges_.push_back({merges[k], leaves_of_tree_.size(), leaves + static_cast<std::int32_t>(k)});
  leaves_of_tree_.push_back(leaves);
  leaves_ += leaves;
}

Dendrogram Forest::take() {
  std::vector<std::int32_t> number(static_cast<std::size_t>(leaves_), -1);
  std::int32_t count = 0;
  for (std::int32_t& leaf : leaf_of_rank_) {
    if (leaf < 0) continue;
    if (number[leaf] < 0) number[leaf] = count++;
    leaf = number[leaf];
  }
  // Cluster numbers of each tree -> those of the forest, and the smallest leaf of each cluster.
  std::vector<std::vector<std::int32_t>> name(leaves_of_tree_.size());
  for (std::size_t tree = 0, first = 0; tree < name.size(); ++tree) {
    const auto leaves = static_cast<std::size_t>(leaves_of_tree_[tree]);
    name[tree].assign(number.begin() + static_cast<std::ptrdiff_t>(first),
                      number.begin() + static_cast<std::ptrdiff_t>(first + leaves));
    name[tree].resize(2 * leaves);
    first += leaves;
  }
  std::stable_sort(merges_.begin(), merges_.end(),
                   [](const Made& x, const Made& y) { return x.merge.height < y.merge.height; });
  std::vector<std::int32_t> smallest(static_cast<std::size_t>(leaves_));
  for (std::size_t leaf = 0; leaf < smallest.size(); ++leaf) smallest[leaf] = static_cast<std::int32_t>(leaf);
  Dendrogram made;
  for (const Made& m : merges_) {
    std::int32_t left = name[m.tree][m.merge.left], right = name[m.tree][m.merge.right];
    if (smallest[left] > smallest[right]) std::swap(left, right);
    name[m.tree][m.cluster] = static_cast<std::int32_t>(smallest.size());
    smallest.push_back(smallest[left]);
    made.merges.push_back({left, right, m.merge.height});
  }
  made.leaf_of_rank = std::move(leaf_of_rank_);
  return made;
}

std::int32_t leaves_of(const Dendrogram& dendrogram) {
  std::int32_t largest = -1;
  for (const std::int32_t leaf : dendrogram.leaf_of_rank) largest = std::max(largest, leaf);
  return largest + 1;
}

Status check(const Dendrogram& dendrogram) {
  std::vector<bool> used(dendrogram.leaf_of_rank.size(), false);
  std::int32_t largest = -1;
  for (const std::int32_t leaf : dendrogram.leaf_of_rank) {
    if (leaf < -1 || leaf >= static_cast<std::int32_t>(used.size())) return damaged("a leaf out of range");
    if (leaf < 0) continue;
    used[leaf] = true;
    largest = std::max(largest, leaf);
  }
  const auto leaves = static_cast<std::size_t>(largest + 1);
  if (!std::all_of(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(leaves), [](bool u) { return u; }))
    return damaged("a leaf without ranks");
  if (dendrogram.merges.size() + 1 > leaves && !dendrogram.merges.empty()) return damaged("too many merges");
  std::vector<bool> joined(leaves + dendrogram.merges.size(), false);
  for (std::size_t k = 0; k < dendrogram.merges.size(); ++k) {
    const DendrogramMerge& m = dendrogram.merges[k];
    const auto clusters = static_cast<std::int64_t>(leaves + k);
    if (m.left < 0 || m.right < 0 || m.left >= clusters || m.right >= clusters || m.left == m.right)
      return damaged("a merge of unknown clusters");
    if (joined[m.left] || joined[m.right]) return damaged("a cluster merged twice");
    joined[m.left] = joined[m.right] = true;
    if (!std::isfinite(m.height) || (k > 0 && m.height < dendrogram.merges[k - 1].height))
      return damaged("heights out of order");
  }
  return {};
}

Result<Partition> cut_at(const Dendrogram& dendrogram, double height) {
  if (const Status status = check(dendrogram); !status) return status.error();
  if (std::isnan(height)) return Error{ErrorCode::bad_argument, "the height to cut at is not a number"};
  return partition_by(dendrogram, cut_at_height(leaves_of(dendrogram), merges_of(dendrogram), height));
}

Result<Partition> cut_into(const Dendrogram& dendrogram, std::int32_t regions) {
  if (const Status status = check(dendrogram); !status) return status.error();
  const std::vector<Merge> merges = merges_of(dendrogram);
  const std::int64_t leaves = leaves_of(dendrogram), most = static_cast<std::int64_t>(merges.size());
  const auto done = static_cast<std::size_t>(std::clamp<std::int64_t>(leaves - regions, 0, most));
  return partition_by(dendrogram, cut_after(static_cast<std::int32_t>(leaves), std::span(merges).first(done)));
}

Result<Partition> cut_best(const Dendrogram& dendrogram, const CommunicationGraph& graph) {
  if (const Status status = check(dendrogram); !status) return status.error();
  if (static_cast<std::size_t>(graph.ranks()) != dendrogram.leaf_of_rank.size())
    return Error{ErrorCode::bad_argument, "the dendrogram and the graph are of different numbers of ranks"};
  Partition partition = partition_by(dendrogram, best_cut(graph, dendrogram.leaf_of_rank, leaves_of(dendrogram),
                                                          merges_of(dendrogram), std::max(graph.total(), 1e-300)));
  partition.modularity = modularity(graph, partition.region_of_rank);
  return partition;
}

}  // namespace pclscope
