// Weighted modularity Q = sum over communities of (inside / total - (degree / total)^2), with `inside` the weight
// inside counted from both ends, `degree` the members' degrees and `total` the sum of all degrees of the graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/graph.hpp"
#include "analysis/region/linkage.hpp"

namespace pclscope {

// label[rank] >= 0, or -1 for ranks in no community (each counts as one of its own).
double modularity(const CommunicationGraph& graph, std::span<const std::int32_t> label);

// The cut through a tree, or a forest, that makes modularity largest; it need not be level, so that parts of the job
// with different densities are cut each where it suits them. Where cuts are equally good, the one with fewer
// communities. leaf_of_rank[rank] = leaf in [0, leaves), -1 none; merges are at most leaves - 1, each of two clusters
// made before; `total` = the sum of degrees of the whole graph of which this may be a component. Returns the community
// 0.. of each leaf, numbered by smallest leaf.
std::vector<std::int32_t> best_cut(const CommunicationGraph& graph, std::span<const std::int32_t> leaf_of_rank,
                                   std::int32_t leaves, std::span<const Merge> merges, double total);

}  // namespace pclscope
