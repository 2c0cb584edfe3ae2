#include "analysis/region/modularity.hpp"

#include <algorithm>

namespace pclscope {

namespace {

constexpr double tie = 1e-12;

// For each cluster of the tree: its degree, and the weight between its two children (counted from both ends).
struct Weights {
  std::vector<double> degree, across;
};

Weights weigh(const CommunicationGraph& graph, std::span<const std::int32_t> leaf_of_rank, std::size_t leaves,
              std::span<const Merge> merges) {
  Weights w{std::vector<double>(leaves + merges.size()), std::vector<double>(leaves + merges.size())};
  std::vector<std::vector<std::int32_t>> members(leaves + merges.size());
  std::vector<std::int32_t> cluster(leaf_of_rank.begin(), leaf_of_rank.end());
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    if (cluster[rank] < 0) continue;
    members[cluster[rank]].push_back(rank);
    w.degree[cluster[rank]] += graph.degree(rank);
  }
  for (std::size_t k = 0; k < merges.size(); ++k) {
    const auto made = static_cast<std::int32_t>(leaves + k);
    std::int32_t small = merges[k].left, large = merges[k].right;
    if (members[small].size() > members[large].size()) std::swap(small, large);
    w.degree[made] = w.degree[small] + w.degree[large];
    // Each rank is on the smaller side at most log2(n) times.
    for (const std::int32_t rank : members[small])
      for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
        if (cluster[n.rank] == large) w.across[made] += 2 * n.weight;
    members[made] = std::move(members[large]);
    for (const std::int32_t rank : members[small]) members[made].push_back(rank);
    for (const std::int32_t rank : members[made]) cluster[rank] = made;
    members[small].clear();
  }
  return w;
}

}  // namespace

double modularity(const CommunicationGraph& graph, std::span<const std::int32_t> label) {
  if (graph.total() <= 0) return 0;
  const std::int32_t communities = label.empty() ? 0 : *std::max_element(label.begin(), label.end()) + 1;
  std::vector<double> degree(static_cast<std::size_t>(communities));
  double inside = 0, expected = 0;
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
    const double share = graph.degree(rank) / graph.total();
    if (label[rank] < 0) {
      expected += share * share;
      continue;
    }
    degree[label[rank]] += share;
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
      if (label[n.rank] == label[rank]) inside += n.weight;
  }
  for (const double d : degree) expected += d * d;
  return inside / graph.total() - expected;
}

std::vector<std::int32_t> best_cut(const CommunicationGraph& graph, std::span<const std::int32_t> leaf_of_rank,
                                   std::int32_t leaf_count, std::span<const Merge> merges, double total) {
  const auto leaves = static_cast<std::size_t>(leaf_count);
  const Weights w = weigh(graph, leaf_of_rank, leaves, merges);
  // best[c]: largest modularity gained inside cluster c over leaving its leaves apart; whole[c]: as one community.
  std::vector<double> best(leaves + merges.size()), whole(leaves + merges.size());
  std::vector<bool> together(leaves + merges.size(), true);
  for (std::size_t k = 0; k < merges.size(); ++k) {
    const std::size_t c = leaves + k;
    const auto l = static_cast<std::size_t>(merges[k].left), r = static_cast<std::size_t>(merges[k].right);
    whole[c] = whole[l] + whole[r] + w.across[c] / total - 2 * (w.degree[l] / total) * (w.degree[r] / total);
    const double apart = best[l] + best[r];
    together[c] = whole[c] >= apart - tie;
    best[c] = together[c] ? whole[c] : apart;
  }
  // From the root down: a cluster that stays together gives all its leaves one label.
  std::vector<std::int32_t> root(leaves + merges.size(), -1);
  for (std::size_t c = leaves + merges.size(); c-- > leaves;) {
    const Merge& m = merges[c - leaves];
    if (root[c] < 0 && together[c]) root[c] = static_cast<std::int32_t>(c);
    root[m.left] = root[m.right] = root[c];
  }
  std::vector<std::int32_t> number(root.size(), -1), label(leaves);
  std::int32_t count = 0;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    const std::size_t top = root[leaf] < 0 ? leaf : static_cast<std::size_t>(root[leaf]);
    if (number[top] < 0) number[top] = count++;
    label[leaf] = number[top];
  }
  return label;
}

}  // namespace pclscope
