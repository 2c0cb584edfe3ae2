#include "analysis/order/fold.hpp"

#include <algorithm>
#include <functional>
#include <queue>

#include "analysis/order/dag_links.hpp"

namespace pclscope {

namespace {

constexpr std::int32_t no_group = -1;

// Successors of each node; only edges as they must be (from lower to higher, both there).
struct Successors {
  std::vector<std::vector<std::int32_t>> of;
  std::vector<std::uint32_t> predecessors;

  Successors(std::size_t nodes, const std::vector<DagEdge>& edges) : of(nodes), predecessors(nodes) {
    for (const DagEdge& e : edges) {
      if (e.from < 0 || e.from >= e.to || static_cast<std::size_t>(e.to) >= nodes) continue;
      of[e.from].push_back(e.to);
      ++predecessors[e.to];
    }
  }
};

// group[node]: the lowest node of those it becomes one with.
class Grouping {
 public:
  Grouping(const Dag& dag, const Folds& folds);
  std::vector<std::int32_t> take() { return std::move(group_); }

 private:
  void fold_ranks(const Dag& dag, std::vector<std::int32_t> ranks);
  void fold_right(std::int32_t node, FoldReach reach);

  Successors successors_;
  std::vector<std::int32_t> group_;    // no_group while it is free
  std::vector<std::uint32_t> within_;  // predecessors in the group being made
};

Grouping::Grouping(const Dag& dag, const Folds& folds)
    : successors_(dag.nodes.size(), dag.edges), group_(dag.nodes.size(), no_group), within_(dag.nodes.size()) {
  fold_ranks(dag, folds.ranks);
  std::vector<std::int32_t> nodes = folds.nodes;
  std::sort(nodes.begin(), nodes.end());
  for (const std::int32_t node : nodes)
    if (node >= 0 && static_cast<std::size_t>(node) < group_.size() && group_[node] == no_group)
      fold_right(node, folds.reach);
  for (std::size_t i = 0; i < group_.size(); ++i)
    if (group_[i] == no_group) group_[i] = static_cast<std::int32_t>(i);
}

void Grouping::fold_ranks(const Dag& dag, std::vector<std::int32_t> ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::vector<std::int32_t> first(ranks.size(), no_group);
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const auto rank = std::lower_bound(ranks.begin(), ranks.end(), dag.nodes[i].rank);
    if (rank == ranks.end() || *rank != dag.nodes[i].rank) continue;
    std::int32_t& lowest = first[rank - ranks.begin()];
    if (lowest == no_group) lowest = static_cast<std::int32_t>(i);
    group_[i] = lowest;
  }
}

void Grouping::fold_right(std::int32_t node, FoldReach reach) {
  std::vector<std::int32_t> members = {node}, touched;
  group_[node] = node;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const std::int32_t next : successors_.of[members[i]]) {
      if (group_[next] != no_group) continue;
      touched.push_back(next);
      if (reach == FoldReach::only_through && ++within_[next] < successors_.predecessors[next]) continue;
      group_[next] = node;
      members.push_back(next);
    }
  }
  for (const std::int32_t next : touched) within_[next] = 0;
}

// Numbers for the groups, no_group for nodes that are not the lowest of theirs: a topological order by lowest node.
// Where there is a cycle, the group that began first comes first.
std::vector<std::int32_t> number_groups(const Dag& dag, const std::vector<std::int32_t>& group) {
  const std::size_t count = group.size();
  const Successors original(count, dag.edges);
  std::vector<std::vector<std::int32_t>> successors(count);
  std::vector<std::uint32_t> waiting(count);
  for (std::size_t i = 0; i < count; ++i)
    for (const std::int32_t next : original.of[i])
      if (group[i] != group[next]) {
        successors[group[i]].push_back(group[next]);
        ++waiting[group[next]];
      }
  std::vector<std::int32_t> number(count, no_group);
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < count; ++i)
    if (group[i] == static_cast<std::int32_t>(i) && waiting[i] == 0) ready.push(group[i]);
  std::int32_t numbered = 0;
  for (std::size_t stuck = 0;;) {
    if (ready.empty()) {
      while (stuck < count && (group[stuck] != static_cast<std::int32_t>(stuck) || number[stuck] != no_group)) ++stuck;
      if (stuck == count) return number;
      ready.push(static_cast<std::int32_t>(stuck));
    }
    const std::int32_t next = ready.top();
    ready.pop();
    number[next] = numbered++;
    for (const std::int32_t s : successors[next])
      if (--waiting[s] == 0 && number[s] == no_group) ready.push(s);
  }
}

}  // namespace

FoldedDag fold(const Dag& dag, const Folds& folds) {
  const std::vector<std::int32_t> group = Grouping(dag, folds).take();
  const std::vector<std::int32_t> number = number_groups(dag, group);
  const std::size_t groups = number.size() - std::count(number.begin(), number.end(), no_group);
  FoldedDag result;
  result.dag = dag;
  result.dag.nodes.assign(groups, {});
  result.stands_for.resize(groups);
  for (std::size_t i = 0; i < group.size(); ++i)
    result.stands_for[number[group[i]]].push_back(static_cast<std::int32_t>(i));

  const auto renamed = [&](std::int32_t node) {
    return node >= 0 && static_cast<std::size_t>(node) < group.size() ? number[group[node]] : no_group;
  };
  const auto append = [&](std::vector<DagMessage>& to, const std::vector<DagMessage>& from, std::int32_t here) {
    std::uint64_t inside = 0;
    for (DagMessage m : from) {
      m.other_node = renamed(m.other_node);
      if (m.other_node == here && result.stands_for[here].size() > 1) ++inside;
      else to.push_back(m);
    }
    return inside;
  };
  for (std::size_t g = 0; g < groups; ++g) {
    DagNode& node = result.dag.nodes[g];
    const DagNode& leftmost = dag.nodes[result.stands_for[g].front()];
    node.rank = leftmost.rank;
    node.begin_s = leftmost.begin_s;
    node.end_s = leftmost.end_s;
    for (const std::int32_t i : result.stands_for[g]) {
      node.begin_s = std::min(node.begin_s, dag.nodes[i].begin_s);
      node.end_s = std::max(node.end_s, dag.nodes[i].end_s);
      append(node.received, dag.nodes[i].received, static_cast<std::int32_t>(g));
      result.inside += append(node.sent, dag.nodes[i].sent, static_cast<std::int32_t>(g));
    }
  }
  link_nodes(result.dag);
  result.returning = messages_returning(result.dag);
  return result;
}

}  // namespace pclscope
