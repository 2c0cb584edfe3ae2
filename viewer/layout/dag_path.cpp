#include "viewer/layout/dag_path.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace pclscope::layout {
namespace {

constexpr double rounding_s = 1e-9;  // seconds in a double of a nanosecond

// Steps on one rank, one after the other.
struct Stay {
  std::int32_t rank = 0;
  double begin_s = 0, end_s = 0;
};

std::vector<Stay> stays_of(std::span<const PathStep> steps) {
  std::vector<Stay> stays;
  for (const PathStep& step : steps) {
    if (!stays.empty() && stays.back().rank == step.rank) stays.back().end_s = step.end_s;
    else stays.push_back({step.rank, step.begin_s, step.end_s});
  }
  return stays;
}

// A message between two nodes.
struct Sent {
  double begin_s = 0, end_s = 0;
  std::int32_t from = 0, to = 0;
};

class Graph {
 public:
  explicit Graph(const Dag& dag) : dag_(dag) {
    for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
      const DagNode& node = dag.nodes[i];
      nodes_[node.rank].push_back(static_cast<std::int32_t>(i));
      for (const DagMessage& m : node.sent) {
        if (!(m.begin_s == m.begin_s) || m.other_node < 0 || static_cast<std::size_t>(m.other_node) >= dag.nodes.size())
          continue;
        sent_[{node.rank, m.peer}].push_back(
            {m.begin_s, m.begin_s + m.time_s, static_cast<std::int32_t>(i), m.other_node});
      }
    }
    for (auto& pair : sent_)
      std::stable_sort(pair.second.begin(), pair.second.end(),
                       [](const Sent& a, const Sent& b) { return a.begin_s < b.begin_s; });
  }
  // The message by which the path comes from one rank to another at a moment: one that was sent then, so that the
  // receiver waited for it; or one whose sender waited for the receiver. Of several the one sent last.
  std::optional<std::pair<std::int32_t, std::int32_t>> jump(std::int32_t from, std::int32_t to, double second) const {
    if (const Sent* late_sender = find(from, to, second)) return std::pair(late_sender->from, late_sender->to);
    if (const Sent* late_receiver = find(to, from, second)) return std::pair(late_receiver->to, late_receiver->from);
    return std::nullopt;
  }
  // Of a rank, from one node to another; where these are not known (-1), what has an event in the stay.
  DagPathPiece between(const Stay& stay, std::int32_t first, std::int32_t last) const {
    DagPathPiece piece;
    const auto found = nodes_.find(stay.rank);
    if (found == nodes_.end()) return piece;
    if (last >= 0 && first > last) return {first, last};  // calls that overlap
    for (const std::int32_t i : found->second) {
      const DagNode& node = dag_.nodes[static_cast<std::size_t>(i)];
      const bool begun = first >= 0 ? i >= first : node.end_s >= stay.begin_s - rounding_s;
      const bool over = last >= 0 ? i > last : node.begin_s > stay.end_s + rounding_s;
      if (begun && !over) piece.push_back(i);
    }
    return piece;
  }

 private:
  const Sent* find(std::int32_t source, std::int32_t destination, double second) const {
    const auto found = sent_.find({source, destination});
    if (found == sent_.end()) return nullptr;
    const std::vector<Sent>& all = found->second;
    auto m =
        std::partition_point(all.begin(), all.end(), [&](const Sent& s) { return s.begin_s <= second + rounding_s; });
    while (m != all.begin())
      if ((--m)->end_s >= second - rounding_s) return &*m;
    return nullptr;
  }
  const Dag& dag_;
  std::map<std::int32_t, DagPathPiece> nodes_;                               // by rank, ascending
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Sent>> sent_;  // by begin
};

}  // namespace

std::vector<DagPathPiece> path_in_dag(const Dag& dag, std::span<const PathStep> steps) {
  std::vector<DagPathPiece> pieces;
  const Graph graph(dag);
  const std::vector<Stay> stays = stays_of(steps);
  bool goes_on = false;     // the last piece ends where the next stay begins
  std::int32_t first = -1;  // node with which the stay begins
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const auto jump =
        i + 1 < stays.size() ? graph.jump(stays[i].rank, stays[i + 1].rank, stays[i].end_s) : std::nullopt;
    const DagPathPiece passed = graph.between(stays[i], first, jump ? jump->first : -1);
    if (!passed.empty()) {
      if (!goes_on) pieces.emplace_back();
      pieces.back().insert(pieces.back().end(), passed.begin(), passed.end());
    }
    goes_on = jump && !passed.empty();
    first = jump ? jump->second : -1;
  }
  return pieces;
}

}  // namespace pclscope::layout
