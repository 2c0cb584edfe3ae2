#include "analysis/region/refine.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace pclscope {

namespace {

constexpr double tie = 1e-11;    // of a node's mass: gains below are rounding
constexpr int most_rounds = 16;
constexpr std::size_t most_partners = 3;

// A graph whose nodes stand for several ranks: mass[node] = sum of their degrees, edges inside a node left out.
struct Level {
  CommunicationGraph graph;
  std::vector<double> mass;
};

// Moves nodes between communities while modularity gains; neighbours of what moved are looked at again.
class Moving {
 public:
  Moving(const CommunicationGraph& graph, std::span<const double> mass, double total,
         std::vector<std::int32_t>& label)
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
    double most = gain(home) + tie * own;
    for (const CommunicationGraph::Neighbour& n : to)
      if (const double g = gain(label_[n.rank]); g > most) most = g, best = label_[n.rank];
    if (most < 0 && members_[home] > 1) best = empty_.back();
    for (const CommunicationGraph::Neighbour& n : to) weight_to_[label_[n.rank]] = 0;
    if (best == home) return false;
    if (members_[best]++ == 0) empty_.pop_back();
    if (--members_[home] == 0) empty_.push_back(home), degree_[home] = 0;
    else degree_[home] -= own;
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
std::vector<std::int32_t> groups_within(const Level& level, double total, std::span<const std::int32_t> label) {
  const std::size_t n = label.size();
  std::vector<std::int32_t> group(n), members(n, 1);
  std::iota(group.begin(), group.end(), 0);
  std::vector<double> degree = level.mass, weight_to(n);
  for (std::size_t node = 0; node < n; ++node) {
    const auto self = static_cast<std::int32_t>(node);
    if (group[node] != self || members[node] > 1) continue;
    const auto to = level.graph.neighbours(self);
    const double own = level.mass[node];
    for (const CommunicationGraph::Neighbour& k : to)
      if (label[k.rank] == label[node]) weight_to[group[k.rank]] += k.weight;
    std::int32_t best = self;
    double most = tie * own;
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

Level contracted(const Level& level, std::span<const std::int32_t> group, std::int32_t groups) {
  Level next{level.graph.contracted(group, groups), std::vector<double>(static_cast<std::size_t>(groups))};
  for (std::size_t node = 0; node < group.size(); ++node) next.mass[group[node]] += level.mass[node];
  return next;
}

bool improve(const Level& level, double total, std::vector<std::int32_t>& label) {
  bool moved = Moving(level.graph, level.mass, total, label).run();
  const std::size_t n = label.size();
  const auto communities = static_cast<std::size_t>(number_labels(label));
  std::vector<std::int32_t> group = groups_within(level, total, label);
  auto groups = static_cast<std::size_t>(number_labels(group));
  if (groups == n) group = label, groups = communities;  // nothing to group: merge communities as they are
  if (groups == n) return moved;
  std::vector<std::int32_t> above(groups);
  for (std::size_t node = 0; node < n; ++node) above[group[node]] = label[node];
  if (improve(contracted(level, group, static_cast<std::int32_t>(groups)), total, above)) {
    moved = true;
    for (std::size_t node = 0; node < n; ++node) label[node] = above[group[node]];
  }
  return moved;
}

bool settle(const Level& level, double total, std::vector<std::int32_t>& label) {
  number_labels(label);
  bool moved = false;
  for (int round = 0; round < most_rounds && improve(level, total, label); ++round) moved = true;
  number_labels(label);
  return moved;
}

// Modularity that the communities of a level add, times total.
double gain_of(const Level& level, double total, std::span<const std::int32_t> label) {
  std::vector<double> degree(label.size());
  double inside = 0;
  for (std::size_t node = 0; node < label.size(); ++node) {
    degree[label[node]] += level.mass[node];
    for (const CommunicationGraph::Neighbour& to : level.graph.neighbours(static_cast<std::int32_t>(node)))
      if (label[to.rank] == label[node]) inside += to.weight;
  }
  double expected = 0;
  for (const double d : degree) expected += d * (d / total);
  return inside - expected;
}

// Takes pairs of neighbouring communities apart and clusters their ranks anew, as if nothing else were there.
class Resolving {
 public:
  Resolving(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label)
      : graph_(graph), total_(total), label_(label), local_(label.size(), -1) {
    const auto communities = static_cast<std::size_t>(number_labels(label));
    members_.resize(communities);
    for (std::size_t rank = 0; rank < label.size(); ++rank) members_[label[rank]].push_back(static_cast<std::int32_t>(rank));
  }

  bool run() {
    bool better = false;
    std::vector<bool> changed(members_.size(), false);
    for (std::size_t c = 0; c < members_.size(); ++c)
      for (const std::int32_t with : partners(static_cast<std::int32_t>(c))) {
        if (changed[c] || changed[with]) continue;
        if (!solve(static_cast<std::int32_t>(c), with)) continue;
        changed[c] = changed[with] = better = true;
      }
    return better;
  }

 private:
  // The community itself, and those it exchanges most with.
  std::vector<std::int32_t> partners(std::int32_t c) const {
    std::map<std::int32_t, double> weight;
    for (const std::int32_t rank : members_[c])
      for (const CommunicationGraph::Neighbour& n : graph_.neighbours(rank))
        if (label_[n.rank] < static_cast<std::int32_t>(members_.size())) weight[label_[n.rank]] += n.weight;
    weight.erase(c);
    std::vector<std::pair<double, std::int32_t>> list;
    for (const auto& [to, w] : weight) list.push_back({-w, to});
    std::sort(list.begin(), list.end());
    std::vector<std::int32_t> chosen{c};
    for (std::size_t i = 0; i < list.size() && i < most_partners; ++i) chosen.push_back(list[i].second);
    return chosen;
  }

  bool solve(std::int32_t a, std::int32_t b) {
    std::vector<std::int32_t> ranks = members_[a];
    if (a != b) ranks.insert(ranks.end(), members_[b].begin(), members_[b].end());
    std::sort(ranks.begin(), ranks.end());
    for (std::size_t i = 0; i < ranks.size(); ++i) local_[ranks[i]] = static_cast<std::int32_t>(i);
    std::vector<Link> links;
    Level level{{}, std::vector<double>(ranks.size())};
    std::vector<std::int32_t> before(ranks.size()), after(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      level.mass[i] = graph_.degree(ranks[i]);
      before[i] = label_[ranks[i]] == a ? 0 : 1;
      for (const CommunicationGraph::Neighbour& n : graph_.neighbours(ranks[i]))
        if (n.rank > ranks[i] && local_[n.rank] >= 0) links.push_back({static_cast<std::int32_t>(i), local_[n.rank], n.weight});
    }
    for (const std::int32_t rank : ranks) local_[rank] = -1;
    level.graph = CommunicationGraph(static_cast<std::int32_t>(ranks.size()), links);
    std::iota(after.begin(), after.end(), 0);
    settle(level, total_, after);
    if (gain_of(level, total_, after) <= gain_of(level, total_, before) + 1e-9 * level.graph.total()) return false;
    const auto first = static_cast<std::int32_t>(members_.size()) + extra_;
    std::int32_t most = 0;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      label_[ranks[i]] = first + after[i];
      most = std::max(most, after[i]);
    }
    extra_ += most + 1;
    return true;
  }

  const CommunicationGraph& graph_;
  double total_;
  std::vector<std::int32_t>& label_;
  std::vector<std::int32_t> local_;  // -1 outside solve()
  std::vector<std::vector<std::int32_t>> members_;
  std::int32_t extra_ = 0;
};

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

bool refine_communities(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label) {
  if (label.empty() || total <= 0) return false;
  Level level{graph, std::vector<double>(label.size())};
  for (std::size_t rank = 0; rank < label.size(); ++rank)
    level.mass[rank] = graph.degree(static_cast<std::int32_t>(rank));
  return settle(level, total, label);
}

bool resolve_pairs(const CommunicationGraph& graph, double total, std::vector<std::int32_t>& label) {
  if (label.empty() || total <= 0) return false;
  bool better = false;
  for (int round = 0; round < most_rounds; ++round) {
    if (!Resolving(graph, total, label).run()) break;
    better = true;
    refine_communities(graph, total, label);
  }
  return better;
}

}  // namespace pclscope
