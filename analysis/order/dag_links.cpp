#include "analysis/order/dag_links.hpp"

#include <algorithm>

namespace pclscope {

namespace {

struct EdgeSum {
  std::int32_t to;
  std::uint64_t bytes;
  double ratio;
};

// Edges of one node, from what it sent.
void add_edges(std::vector<DagEdge>& edges, std::int32_t from, std::vector<EdgeSum>& sent) {
  std::stable_sort(sent.begin(), sent.end(), [](const EdgeSum& a, const EdgeSum& b) { return a.to < b.to; });
  for (std::size_t i = 0; i < sent.size();) {
    DagEdge edge{from, sent[i].to, 0, 0, 0};
    std::uint32_t with_ratio = 0;
    for (; i < sent.size() && sent[i].to == edge.to; ++i) {
      ++edge.messages;
      edge.bytes += sent[i].bytes;
      edge.ratio += sent[i].ratio;
      with_ratio += sent[i].ratio > 0;
    }
    if (with_ratio > 0) edge.ratio /= with_ratio;
    edges.push_back(edge);
  }
}

}  // namespace

void link_nodes(Dag& dag) {
  const auto count = static_cast<std::int32_t>(dag.nodes.size());
  dag.edges.clear();
  std::vector<EdgeSum> sent;
  for (std::int32_t i = 0; i < count; ++i) {
    sent.clear();
    for (const DagMessage& m : dag.nodes[i].sent)
      if (m.other_node > i && m.other_node < count) sent.push_back({m.other_node, m.bytes, m.ratio});
    add_edges(dag.edges, i, sent);
    dag.nodes[i].layer = 0;
  }
  for (const DagEdge& edge : dag.edges)  // ascending `from`: its layer is final
    dag.nodes[edge.to].layer = std::max(dag.nodes[edge.to].layer, dag.nodes[edge.from].layer + 1);
}

std::uint64_t messages_inside(const Dag& dag) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    for (const DagMessage& m : dag.nodes[i].sent) count += m.other_node == static_cast<std::int32_t>(i);
  return count;
}

std::uint64_t messages_returning(const Dag& dag) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    for (const DagMessage& m : dag.nodes[i].sent)
      count += m.other_node >= 0 && m.other_node < static_cast<std::int32_t>(i);
  return count;
}

}  // namespace pclscope
