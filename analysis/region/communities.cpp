#include "analysis/region/communities.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/region/refine.hpp"
#include "analysis/values/splitmix.hpp"

namespace pclscope {

namespace {

constexpr double least_gain = 1e-10;  // of the total weight: below it is rounding
constexpr std::size_t most_partners = 3;
constexpr int most_rounds = 4;  // of clustering pairs anew
constexpr std::uint64_t seed = 0x2545f4914f6cdd1du;

using Labels = std::vector<std::int32_t>;

std::vector<double> degrees(const CommunicationGraph& graph) {
  std::vector<double> mass(static_cast<std::size_t>(graph.ranks()));
  for (std::int32_t rank = 0; rank < graph.ranks(); ++rank) mass[rank] = graph.degree(rank);
  return mass;
}

// Modularity times total, of labels below the number of nodes.
double quality(const CommunicationGraph& graph, std::span<const double> mass, double total,
               std::span<const std::int32_t> label) {
  std::vector<double> degree(label.size());
  double inside = 0, expected = 0;
  for (std::size_t node = 0; node < label.size(); ++node) {
    degree[label[node]] += mass[node];
    for (const CommunicationGraph::Neighbour& to : graph.neighbours(static_cast<std::int32_t>(node)))
      if (label[to.rank] == label[node]) inside += to.weight;
  }
  for (const double d : degree) expected += d * (d / total);
  return inside - expected;
}

// Takes communities, alone and in neighbouring pairs, apart and clusters their ranks anew.
class Resolving {
 public:
  Resolving(const CommunicationGraph& graph, std::span<const double> mass, double total, Labels& label)
      : graph_(graph), mass_(mass), total_(total), label_(label), local_(label.size(), -1) {
    members_.resize(static_cast<std::size_t>(number_labels(label)));
    next_ = static_cast<std::int32_t>(members_.size());
    for (std::size_t rank = 0; rank < label.size(); ++rank)
      members_[label[rank]].push_back(static_cast<std::int32_t>(rank));
  }

  // Each community changes at most once. Labels are left with gaps.
  bool run() {
    std::vector<bool> changed(members_.size(), false);
    bool better = false;
    for (std::int32_t c = 0; c < static_cast<std::int32_t>(members_.size()); ++c)
      for (const std::int32_t with : partners(c)) {
        if (changed[c] || changed[with] || !solved_.insert(std::minmax(c, with)).second || !solve(c, with)) continue;
        changed[c] = changed[with] = better = true;
      }
    return better;
  }

 private:
  // The community itself, and those it exchanges most with.
  Labels partners(std::int32_t c) const {
    std::map<std::int32_t, double> weight;
    for (const std::int32_t rank : members_[c])
      for (const CommunicationGraph::Neighbour& n : graph_.neighbours(rank)) weight[label_[n.rank]] -= n.weight;
    std::vector<std::pair<double, std::int32_t>> list;
    for (const auto& [to, w] : weight)
      if (to != c && to < static_cast<std::int32_t>(members_.size())) list.push_back({w, to});
    std::sort(list.begin(), list.end());
    Labels chosen{c};
    for (std::size_t i = 0; i < std::min(list.size(), most_partners); ++i) chosen.push_back(list[i].second);
    return chosen;
  }

  bool solve(std::int32_t a, std::int32_t b) {
    Labels ranks = members_[a];
    if (a != b) ranks.insert(ranks.end(), members_[b].begin(), members_[b].end());
    std::sort(ranks.begin(), ranks.end());
    for (std::size_t i = 0; i < ranks.size(); ++i) local_[ranks[i]] = static_cast<std::int32_t>(i);
    std::vector<Link> links;
    std::vector<double> mass(ranks.size());
    Labels before(ranks.size()), after(ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      mass[i] = mass_[ranks[i]];
      before[i] = label_[ranks[i]] == a ? 0 : 1;
      for (const CommunicationGraph::Neighbour& n : graph_.neighbours(ranks[i]))
        if (n.rank > ranks[i] && local_[n.rank] >= 0)
          links.push_back({static_cast<std::int32_t>(i), local_[n.rank], n.weight});
    }
    for (const std::int32_t rank : ranks) local_[rank] = -1;
    const CommunicationGraph part(static_cast<std::int32_t>(ranks.size()), links);
    std::iota(after.begin(), after.end(), 0);
    settle(part, mass, total_, after);
    if (quality(part, mass, total_, after) <= quality(part, mass, total_, before) + least_gain * total_) return false;
    for (std::size_t i = 0; i < ranks.size(); ++i) label_[ranks[i]] = next_ + after[i];
    next_ += *std::max_element(after.begin(), after.end()) + 1;
    return true;
  }

  const CommunicationGraph& graph_;
  std::span<const double> mass_;
  double total_;
  Labels& label_;
  std::vector<std::int32_t> local_;  // -1 outside solve()
  std::vector<Labels> members_;      // as they were at the start
  std::int32_t next_;                // the next label never used
  std::set<std::pair<std::int32_t, std::int32_t>> solved_;
};

// Numbers in [0, 1).
class Chance {
 public:
  double operator()() { return static_cast<double>(splitmix(state_ += splitmix_step) >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_ = seed;
};

Labels shaken(const Labels& label, bool whole_communities, Chance& chance) {
  const std::int32_t communities = *std::max_element(label.begin(), label.end()) + 1;
  std::vector<bool> apart(static_cast<std::size_t>(communities));
  for (std::size_t c = 0; c < apart.size(); ++c) apart[c] = chance() < 0.5;
  Labels result = label;
  for (std::size_t rank = 0; rank < label.size(); ++rank)
    if (whole_communities ? apart[label[rank]] : chance() < 0.4)
      result[rank] = communities + static_cast<std::int32_t>(rank);
  return result;
}

}  // namespace

bool improve_communities(const CommunicationGraph& graph, double total, int shakes, Labels& label) {
  if (label.empty() || total <= 0) return false;
  const std::vector<double> mass = degrees(graph);
  number_labels(label);
  double most = quality(graph, mass, total, label);
  bool changed = false;
  const auto take_if_better = [&](const Labels& other) {
    const double q = quality(graph, mass, total, other);
    if (q <= most + least_gain * total) return;
    most = q;
    label = other;
    changed = true;
  };
  Labels settled = label, single(label.size());
  settle(graph, mass, total, settled);
  take_if_better(settled);
  std::iota(single.begin(), single.end(), 0);
  settle(graph, mass, total, single);
  take_if_better(single);
  const auto resolve = [&] {
    for (int round = 0; round < most_rounds; ++round) {
      Labels solved = label;
      if (!Resolving(graph, mass, total, solved).run()) break;
      settle(graph, mass, total, solved);
      take_if_better(solved);
    }
  };
  resolve();
  Chance chance;
  bool won = false;
  for (int k = 0; k < shakes; ++k) {
    const double before = most;
    Labels other = shaken(label, k % 2 == 0, chance);
    settle(graph, mass, total, other);
    take_if_better(other);
    won = won || most > before;
  }
  if (won) resolve();
  return changed;
}

}  // namespace pclscope
