#include "analysis/order/dag_dot.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace pclscope {

namespace {

// A string of the DOT language; control characters and backslashes, which it would interpret, are replaced.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += "\\\"";
    else if (c == '\\') result += '/';
    else result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result + '"';
}

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

double mean_ratio(const std::vector<DagMessage>& messages) {
  double sum = 0, count = 0;
  for (const DagMessage& m : messages) {
    sum += m.ratio;
    count += m.ratio > 0;
  }
  return count > 0 ? sum / count : 0;
}

// White up to 1, then logarithmically to red at 4.
std::string colour(double ratio) {
  const double share = ratio > 1 ? std::min(1.0, std::log2(ratio) / 2) : 0;
  const int other = static_cast<int>(std::lround(255 - 175 * share));
  return format("#ff%02x%02x", other, other);
}

void add_nodes(std::string& text, const Dag& dag) {
  std::map<std::int32_t, std::vector<std::size_t>> layers;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    const DagNode& node = dag.nodes[i];
    layers[node.layer].push_back(i);
    const double ratio = mean_ratio(node.received);
    const std::string tip = format("rank %d, %.6f s to %.6f s: received %zu, sent %zu, mean ratio %.3g", node.rank,
                                   node.begin_s, node.end_s, node.received.size(), node.sent.size(), ratio);
    text += "  n" + std::to_string(i) + " [label=" + quoted(std::to_string(node.rank)) +
            ", fillcolor=" + quoted(colour(ratio)) + ", tooltip=" + quoted(tip) + "];\n";
  }
  for (const auto& [layer, nodes] : layers) {
    text += "  { rank=same;";
    for (const std::size_t i : nodes) text += " n" + std::to_string(i) + ";";
    text += " }\n";
  }
}

void add_edges(std::string& text, const Dag& dag) {
  for (const DagEdge& edge : dag.edges) {
    const std::string tip = format("%u messages, %llu bytes, mean ratio %.3g", edge.messages,
                                   static_cast<unsigned long long>(edge.bytes), edge.ratio);
    text += "  n" + std::to_string(edge.from) + " -> n" + std::to_string(edge.to) + " [tooltip=" + quoted(tip) +
            format(", penwidth=%.2f", 1 + std::log2(std::max(1u, edge.messages)) / 2) +
            (edge.messages > 1 ? ", label=" + quoted(std::to_string(edge.messages)) : "") + "];\n";
  }
}

}  // namespace

std::string dag_to_dot(const Dag& dag) {
  std::string title = dag.region >= 0 ? "region " + std::to_string(dag.region) + ", " : "";
  title +=
      format("%.6f s to %.6f s: %llu messages", dag.from_s, dag.to_s, static_cast<unsigned long long>(dag.messages));
  if (dag.partial) title += "; partial: " + dag.why_partial;
  std::string text = "digraph dag {\n  graph [rankdir=LR, labelloc=t, label=" + quoted(title) + "];\n" +
                     "  node [shape=ellipse, style=filled, fontsize=10];\n  edge [fontsize=8, arrowsize=0.6];\n";
  add_nodes(text, dag);
  add_edges(text, dag);
  return text + "}\n";
}

}  // namespace pclscope
