#include "analysis/region/refine.hpp"

#include <algorithm>
#include <numeric>

namespace pclscope {

namespace {

constexpr double rounding = 1e-11;  // of a node's mass: gains below are rounding
constexpr int most_sweeps = 16;

// Moves nodes between communities while modularity gains; neighbours of what moved are looked at again.
class Moving {
 public:
  Moving(const CommunicationGraph& graph, std::span<const double> mass, double total, std::vector<std::int32_t>& label)
      : graph_(graph),
        mass_(mass),
        total_(total),
        label_(label),
        degree_(label.size()),
        weight_to_(label.size()),
        members_(label.size()) {
    for (std::size_t node = 0; node < label.size(); ++node) {
      degree_[label[node]] += mass[node];
      ++members_[label[node]];
    }
    for (std::size_t c = label.size(); c-- > 0;)
      if (members_[c] == 0) empty_.push_back(static_cast<std::int32_t>(c));
  }

  bool run() {
    const std::size_t n = label_.size();
    std::vector<std::int32_t> queue(n);
    std::vector<bool> queued(n, true);
    std::iota(queue.begin(), queue.end(), 0);
    bool moved = false;
    for (std::size_t next = 0; next < queue.size() && next < 64 * n; ++next) {
      const std::int32_t node = queue[next];
      queued[node] = false;
      if (!move(node)) continue;
      moved = true;
      for (const CommunicationGraph::Neighbour& to : graph_.neighbours(node))
        if (!queued[to.rank] && label_[to.rank] != label_[node]) {
          queued[to.rank] = true;
          queue.push_back(to.rank);
        }
    }
    return moved;
  }

 private:
  bool move(std::int32_t node) {
    const auto to = graph_.neighbours(node);
    const std::int32_t home = label_[node];
    const double own = mass_[node];
    for (const CommunicationGraph::Neighbour& n : to) weight_to_[label_[n.rank]] += n.weight;
    // Gains over standing alone, in units of weight.
    const auto gain = [&](std::int32_t c) {
      return weight_to_[c] - own * ((degree_[c] - (c == home ? own : 0)) / total_);
    };
    std::int32_t best = home;
    double most = gain(home) + rounding * own;
    for (const CommunicationGraph::Neighbour& n : to)
      if (const double g = gain(label_[n.rank]); g > most) most = g, best = label_[n.rank];
    if (most < 0 && members_[home] > 1) best = empty_.back();
    for (const CommunicationGraph::Neighbour& n : to) weight_to_[label_[n.rank]] = 0;
    if (best == home) return false;
    if (members_[best]++ == 0) empty_.pop_back();
    degree_[home] -= own;
    if (--members_[home] == 0) {
      degree_[home] = 0;
      empty_.push_back(home);
    }
    degree_[best] += own;
    label_[node] = best;
    return true;
  }

  const CommunicationGraph& graph_;
  std::span<const double> mass_;
  double total_;
  std::vector<std::int32_t>& label_;
  std::vector<double> degree_, weight_to_;  // of communities; weight_to_ 0 outside move()
  std::vector<std::int32_t> members_, empty_;
};

// Groups inside each community: every node that is still alone joins the group of its community that gains most.
std::vector<std::int32_t> groups_within(const CommunicationGraph& graph, std::span<const double> mass, double total,
                                        std::span<const std::int32_t> label) {
  const std::size_t n = label.size();
  std::vector<std::int32_t> group(n), members(n, 1);
  std::iota(group.begin(), group.end(), 0);
  std::vector<double> degree(mass.begin(), mass.end()), weight_to(n);
  for (std::size_t node = 0; node < n; ++node) {
    const auto self = static_cast<std::int32_t>(node);
    if (group[node] != self || members[node] > 1) continue;
    const auto to = graph.neighbours(self);
    const double own = mass[node];
    for (const CommunicationGraph::Neighbour& k : to)
      if (label[k.rank] == label[node]) weight_to[group[k.rank]] += k.weight;
    std::int32_t best = self;
    double most = rounding * own;
    for (const CommunicationGraph::Neighbour& k : to) {
      const std::int32_t g = group[k.rank];
      const double gain = weight_to[g] - own * (degree[g] / total);
      if (label[k.rank] == label[node] && gain > most) most = gain, best = g;
    }
    for (const CommunicationGraph::Neighbour& k : to) weight_to[group[k.rank]] = 0;
    if (best == self) continue;
    group[node] = best;
    degree[best] += own;
    ++members[best];
    members[node] = 0;
  }
  return group;
}

bool improve(const CommunicationGraph& graph, std::span<const double> mass, double total,
             std::vector<std::int32_t>& label) {
  bool moved = Moving(graph, mass, total, label).run();
  const std::size_t n = label.size();
  const auto communities = static_cast<std::size_t>(number_labels(label));
  std::vector<std::int32_t> group = groups_within(graph, mass, total, label);
  auto groups = static_cast<std::size_t>(number_labels(group));
  if (groups == n) group = label, groups = communities;  // nothing to group: communities may merge as they are
  if (groups == n) return moved;
  std::vector<std::int32_t> above(groups);
  std::vector<double> mass_above(groups);
  for (std::size_t node = 0; node < n; ++node) {
    above[group[node]] = label[node];
    mass_above[group[node]] += mass[node];
  }
  if (improve(graph.contracted(group, static_cast<std::int32_t>(groups)), mass_above, total, above)) {
    moved = true;
    for (std::size_t node = 0; node < n; ++node) label[node] = above[group[node]];
  }
  return moved;
}

}  // namespace

std::int32_t number_labels(std::span<std::int32_t> label) {
  std::int32_t largest = -1, count = 0;
  for (const std::int32_t l : label) largest = std::max(largest, l);
  std::vector<std::int32_t> number(static_cast<std::size_t>(largest + 1), -1);
  for (std::int32_t& l : label) {
    if (l < 0) continue;
    if (number[l] < 0) number[l] = count++;
    l = number[l];
  }
  return count;
}

bool settle(const CommunicationGraph& graph, std::span<const double> mass, double total,
            std::vector<std::int32_t>& label) {
  number_labels(label);
  if (total <= 0) return false;
  bool moved = false;
  for (int round = 0; round < most_sweeps && improve(graph, mass, total, label); ++round) moved = true;
  number_labels(label);
  return moved;
}

}  // namespace pclscope
