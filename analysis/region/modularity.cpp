#include "analysis/region/modularity.hpp"

#include <algorithm>

namespace pclscope {

namespace {

constexpr double tie = 1e-12;

// For each cluster of the tree: its degree, and the weight between its two children (counted from both ends).
struct Weights {
  std::vector<double> degree, across;
};

Weights weigh(const CommunicationGraph& graph, std::span<const std::int32_t> leaf_of_rank,
              const std::vector<Merge>& merges) {
  const std::size_t leaves = merges.size() + 1;
  Weights w{std::vector<double>(leaves + merges.size()), std::vector<double>(leaves + merges.size())};
  std::vector<std::vector<std::int32_t>> members(leaves + merges.size());
  std::vector<std::int32_t> cluster(leaf_of_rank.begin(), leaf_of_rank.end());
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
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
                                   const std::vector<Merge>& merges, double total) {
  const std::size_t leaves = merges.size() + 1;
  const Weights w = weigh(graph, leaf_of_rank, merges);
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

void improve_by_moves(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label) {
  const std::size_t communities = static_cast<std::size_t>(*std::max_element(label.begin(), label.end())) + 1;
  std::vector<double> degree(communities), weight_to(communities);
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) degree[label[rank]] += graph.degree(rank);
  bool moved = true;
  for (int round = 0; round < 10 && moved; ++round) {
    moved = false;
    for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) {
      const auto to = graph.neighbours(rank);
      for (const CommunicationGraph::Neighbour& n : to) weight_to[label[n.rank]] += n.weight;
      const std::int32_t home = label[rank];
      const double own = graph.degree(rank);
      const auto gain = [&](std::int32_t c) {
        return weight_to[c] - own * (degree[c] - (c == home ? own : 0)) / total;
      };
      std::int32_t best = home;
      for (const CommunicationGraph::Neighbour& n : to)
        if (gain(label[n.rank]) > gain(best) + tie * own) best = label[n.rank];
      for (const CommunicationGraph::Neighbour& n : to) weight_to[label[n.rank]] = 0;
      if (best == home) continue;
      degree[home] -= own;
      degree[best] += own;
      label[rank] = best;
      moved = true;
    }
  }
}

}  // namespace pclscope
