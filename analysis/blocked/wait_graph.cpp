#include "analysis/blocked/wait_graph.hpp"

#include <algorithm>
#include <numeric>

namespace pclscope::blocked {
namespace {

using Ranks = std::vector<std::int32_t>;

// Releases whoever can go on, until nobody else can.
class Release {
 public:
  // Only ranks with `candidate` set may be stuck; all others may go on.
  Release(const WaitGraph& graph, const std::vector<char>& candidate) : graph_(graph) {
    const auto ranks = static_cast<std::size_t>(graph.ranks);
    may_go_on_.assign(ranks, 1);
    for (const Waiter& w : graph.waiters)
      if (candidate[static_cast<std::size_t>(w.rank)]) may_go_on_[static_cast<std::size_t>(w.rank)] = 0;
    for (std::size_t r = 0; r < ranks; ++r)
      if (graph.finished[r]) may_go_on_[r] = 0;
    index();
    for (std::size_t s = 0; s < graph.sets.size(); ++s)
      for (const std::int32_t r : graph.sets[s]) helpers_[s] += may_go_on_[static_cast<std::size_t>(r)] != 0;
    for (std::size_t w = 0; w < graph.waiters.size(); ++w) {
      for (const std::uint32_t s : graph.waiters[w].needs) unmet_[w] += helpers_[s] == 0;
      if (unmet_[w] == 0) release(graph.waiters[w].rank);
    }
    while (!fresh_.empty()) spread();
  }

  bool stuck(std::int32_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return !may_go_on_[r] && !graph_.finished[r];
  }
  bool unmet(std::uint32_t set) const { return helpers_[set] == 0; }

 private:
  void index() {
    sets_of_.resize(static_cast<std::size_t>(graph_.ranks));
    for (std::uint32_t s = 0; s < graph_.sets.size(); ++s)
      for (const std::int32_t r : graph_.sets[s]) sets_of_[static_cast<std::size_t>(r)].push_back(s);
    needed_by_.resize(graph_.sets.size());
    for (std::uint32_t w = 0; w < graph_.waiters.size(); ++w)
      for (const std::uint32_t s : graph_.waiters[w].needs) needed_by_[s].push_back(w);
    helpers_.assign(graph_.sets.size(), 0);
    unmet_.assign(graph_.waiters.size(), 0);
  }
  void release(std::int32_t rank) {
    if (!stuck(rank)) return;
    may_go_on_[static_cast<std::size_t>(rank)] = 1;
    fresh_.push_back(rank);
  }
  void spread() {
    const std::int32_t rank = fresh_.back();
    fresh_.pop_back();
    for (const std::uint32_t s : sets_of_[static_cast<std::size_t>(rank)]) {
      if (helpers_[s]++ != 0) continue;
      for (const std::uint32_t w : needed_by_[s])
        if (--unmet_[w] == 0) release(graph_.waiters[w].rank);
    }
  }

  const WaitGraph& graph_;
  std::vector<char> may_go_on_;
  std::vector<std::vector<std::uint32_t>> sets_of_;    // by rank
  std::vector<std::vector<std::uint32_t>> needed_by_;  // by set: waiters
  std::vector<std::uint32_t> helpers_;                 // by set: members that may go on
  std::vector<std::uint32_t> unmet_;                   // by waiter: sets without a helper
  Ranks fresh_;                                        // released, not spread yet
};

// Strongly connected components (Tarjan, without recursion) of the graph: stuck rank -> unmet set -> stuck member.
class Components {
 public:
  Components(const WaitGraph& graph, const Release& release) : graph_(graph), release_(release) {
    const auto ranks = static_cast<std::size_t>(graph.ranks);
    sets_of_.resize(ranks);
    for (const Waiter& w : graph.waiters) {
      if (!release.stuck(w.rank)) continue;
      for (const std::uint32_t s : w.needs)
        if (release.unmet(s)) sets_of_[static_cast<std::size_t>(w.rank)].push_back(s);
    }
    const std::size_t nodes = ranks + graph.sets.size();
    number_.assign(nodes, 0);
    lowest_.assign(nodes, 0);
    component_.assign(nodes, none);
    for (std::int32_t r = 0; r < graph.ranks; ++r)
      if (release.stuck(r) && number_[static_cast<std::size_t>(r)] == 0) walk(static_cast<std::size_t>(r));
  }

  std::size_t count() const { return members_.size(); }
  const Ranks& members(std::size_t component) const { return members_[component]; }  // ranks, ascending
  const std::vector<std::uint32_t>& sets_of(std::int32_t rank) const {
    return sets_of_[static_cast<std::size_t>(rank)];
  }
  bool inside(std::int32_t rank, std::size_t component) const {
    return component_[static_cast<std::size_t>(rank)] == component;
  }
  // Nobody in it waits for a stuck rank outside.
  bool terminal(std::size_t component) const {
    for (const std::int32_t rank : members_[component])
      for (const std::uint32_t s : sets_of(rank))
        for (const std::int32_t other : graph_.sets[s])
          if (release_.stuck(other) && !inside(other, component)) return false;
    return true;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct Frame {
    std::size_t node;
    std::size_t next;  // child
  };

  std::size_t children(std::size_t node) const {
    const auto ranks = static_cast<std::size_t>(graph_.ranks);
    return node < ranks ? sets_of_[node].size() : graph_.sets[node - ranks].size();
  }
  std::size_t child(std::size_t node, std::size_t i) const {
    const auto ranks = static_cast<std::size_t>(graph_.ranks);
    return node < ranks ? ranks + sets_of_[node][i] : static_cast<std::size_t>(graph_.sets[node - ranks][i]);
  }
  bool counts(std::size_t node) const {
    return node >= static_cast<std::size_t>(graph_.ranks) || release_.stuck(static_cast<std::int32_t>(node));
  }

  void enter(std::size_t node) {
    number_[node] = lowest_[node] = ++next_number_;
    open_.push_back(node);
    path_.push_back({node, 0});
  }
  void walk(std::size_t root) {
    enter(root);
    while (!path_.empty()) {
      const std::size_t node = path_.back().node;
      if (path_.back().next == children(node)) {
        leave(node);
        continue;
      }
      const std::size_t to = child(node, path_.back().next++);
      if (!counts(to)) continue;
      if (number_[to] == 0) enter(to);
      else if (component_[to] == none) lowest_[node] = std::min(lowest_[node], number_[to]);
    }
  }
  void leave(std::size_t node) {
    path_.pop_back();
    if (!path_.empty()) lowest_[path_.back().node] = std::min(lowest_[path_.back().node], lowest_[node]);
    if (lowest_[node] != number_[node]) return;
    Ranks ranks;
    for (std::size_t last = none; last != node;) {
      last = open_.back();
      open_.pop_back();
      component_[last] = members_.size();
      if (last < static_cast<std::size_t>(graph_.ranks)) ranks.push_back(static_cast<std::int32_t>(last));
    }
    std::sort(ranks.begin(), ranks.end());
    members_.push_back(std::move(ranks));  // of a set alone: empty
  }

  const WaitGraph& graph_;
  const Release& release_;
  std::vector<std::vector<std::uint32_t>> sets_of_;  // by stuck rank: unmet needs
  std::vector<std::size_t> number_, lowest_, component_;
  std::vector<std::size_t> open_;
  std::vector<Frame> path_;
  std::size_t next_number_ = 0;
  std::vector<Ranks> members_;
};

// From the lowest rank along the edges, always to the lowest rank not visited yet.
Ranks along_the_cycle(const WaitGraph& graph, const Components& components, std::size_t component) {
  constexpr std::size_t most = 1024;  // beyond, nobody reads the order
  const Ranks& members = components.members(component);
  if (members.size() > most) return members;
  Ranks order, left = members;
  while (!left.empty()) {
    std::int32_t next = left.front();
    if (!order.empty()) {
      std::int32_t best = graph.ranks;
      for (const std::uint32_t s : components.sets_of(order.back()))
        for (const std::int32_t r : graph.sets[s])
          if (r < best && std::binary_search(left.begin(), left.end(), r)) best = r;
      if (best < graph.ranks) next = best;
    }
    order.push_back(next);
    left.erase(std::lower_bound(left.begin(), left.end(), next));
  }
  return order;
}

bool waits_for_finished(const WaitGraph& graph, const Components& components, std::int32_t rank) {
  for (const std::uint32_t s : components.sets_of(rank))
    for (const std::int32_t r : graph.sets[s])
      if (graph.finished[static_cast<std::size_t>(r)]) return true;
  return false;
}

void find_among(const WaitGraph& graph, const std::vector<char>& candidate, std::vector<Knot>& knots,
                Ranks& left_behind) {
  const Release release(graph, candidate);
  const Components components(graph, release);
  for (std::size_t c = 0; c < components.count(); ++c) {
    const Ranks& members = components.members(c);
    if (members.empty()) continue;
    if (!components.terminal(c)) {  // some of them may be stuck without those outside
      std::vector<char> inside(static_cast<std::size_t>(graph.ranks), 0);
      for (const std::int32_t r : members) inside[static_cast<std::size_t>(r)] = 1;
      find_among(graph, inside, knots, left_behind);
    } else if (members.size() == 1 && waits_for_finished(graph, components, members[0])) {
      left_behind.push_back(members[0]);
    } else {
      knots.push_back({false, along_the_cycle(graph, components, c)});
    }
  }
}

}  // namespace

std::vector<char> stuck_waiters(const WaitGraph& graph) {
  const Release release(graph, std::vector<char>(static_cast<std::size_t>(graph.ranks), 1));
  std::vector<char> stuck;
  for (const Waiter& w : graph.waiters) stuck.push_back(release.stuck(w.rank));
  return stuck;
}

std::vector<Knot> find_knots(const WaitGraph& graph) {
  std::vector<Knot> knots;
  Ranks left_behind;
  find_among(graph, std::vector<char>(static_cast<std::size_t>(graph.ranks), 1), knots, left_behind);
  if (!left_behind.empty()) {
    std::sort(left_behind.begin(), left_behind.end());
    knots.push_back({true, std::move(left_behind)});
  }
  std::sort(knots.begin(), knots.end(), [](const Knot& a, const Knot& b) { return a.ranks < b.ranks; });
  return knots;
}

}  // namespace pclscope::blocked
