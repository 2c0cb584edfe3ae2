#include "analysis/region/coarsen.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pclscope {

namespace {

constexpr std::size_t overlap_limit = 128;  // neighbours beyond which common ones are not looked for
constexpr double floor_of_overlap = 1e-3;   // so that edges without common neighbours compare by their weight

// How much of what two joined nodes exchange goes to the same third nodes: large inside a group, small across.
double overlap(const CommunicationGraph& graph, std::int32_t a, std::int32_t b) {
  const auto of_a = graph.neighbours(a), of_b = graph.neighbours(b);
  if (of_a.size() + of_b.size() > overlap_limit) return 0;
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < of_a.size() && j < of_b.size();) {
    if (of_a[i].rank < of_b[j].rank) ++i;
    else if (of_b[j].rank < of_a[i].rank) ++j;
    else sum += of_a[i].weight * of_b[j].weight / graph.degree(of_a[i].rank), ++i, ++j;
  }
  return sum / std::sqrt(graph.degree(a) * graph.degree(b));
}

// The neighbour with the heaviest edge, relative to both degrees and weighted by overlap, that `accept`s; the first
// of several. -1 when there is none.
template <class Accept>
std::int32_t heaviest(const CommunicationGraph& graph, std::int32_t node, Accept accept) {
  std::int32_t best = -1;
  double score = 0;
  for (const CommunicationGraph::Neighbour& n : graph.neighbours(node)) {
    if (!accept(n.rank)) continue;
    const double weight = n.weight / std::sqrt(graph.degree(node) * graph.degree(n.rank));
    const double own = weight * (floor_of_overlap + overlap(graph, node, n.rank));
    if (own <= score * (1 + 1e-9)) continue;
    score = own;
    best = n.rank;
  }
  return best;
}

// One round: a group for each node. At most `spare` nodes vanish. Nodes of different labels stay apart.
Coarsening match_round(const CommunicationGraph& graph, std::int32_t spare, std::span<const std::int32_t> label) {
  const std::int32_t n = graph.ranks();
  Coarsening round{std::vector<std::int32_t>(static_cast<std::size_t>(n), -1), 0};
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  // Nodes with few neighbours choose first: they have the least choice.
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return graph.neighbours(a).size() < graph.neighbours(b).size();
  });
  std::int32_t merged = 0;
  for (const std::int32_t node : order) {
    if (round.group[node] >= 0 || merged == spare) continue;
    const std::int32_t with = heaviest(
        graph, node, [&](std::int32_t other) { return round.group[other] < 0 && label[other] == label[node]; });
    if (with < 0) continue;
    round.group[node] = round.group[with] = round.groups++;
    ++merged;
  }
  const bool stars = merged < n / 10;
  for (const std::int32_t node : order) {
    if (round.group[node] >= 0) continue;
    const std::int32_t host =
        stars && merged < spare
            ? heaviest(graph, node,
                       [&](std::int32_t other) { return round.group[other] >= 0 && label[other] == label[node]; })
            : -1;
    if (host >= 0) ++merged;
    round.group[node] = host >= 0 ? round.group[host] : round.groups++;
  }
  return round;
}

}  // namespace

Coarsening coarsen(const CommunicationGraph& graph, std::int32_t limit, std::span<const std::int32_t> keep_apart) {
  Coarsening all{std::vector<std::int32_t>(static_cast<std::size_t>(graph.ranks())), graph.ranks()};
  std::iota(all.group.begin(), all.group.end(), 0);
  std::vector<std::int32_t> label(keep_apart.begin(), keep_apart.end());
  label.resize(all.group.size(), 0);
  CommunicationGraph coarse = graph;
  while (all.groups > limit) {
    const Coarsening round = match_round(coarse, all.groups - limit, label);
    if (round.groups == all.groups) break;
    std::vector<std::int32_t> label_of_group(static_cast<std::size_t>(round.groups));
    for (std::size_t node = 0; node < label.size(); ++node) label_of_group[round.group[node]] = label[node];
    label = std::move(label_of_group);
    for (std::int32_t& group : all.group) group = round.group[group];
    all.groups = round.groups;
    coarse = graph.contracted(all.group, all.groups);
  }
  return all;
}

}  // namespace pclscope
