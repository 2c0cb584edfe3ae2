#include "viewer/views/dag_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

using session::finite;
using session::Json;

Json message_json(const DagMessage& m, const Sites& sites) {
  return {{"other_node", m.other_node >= 0 ? Json(m.other_node) : Json(nullptr)},
          {"peer", m.peer},
          {"tag", m.tag},
          {"bytes", m.bytes},
          {"begin_s", finite(m.begin_s)},
          {"time_s", finite(m.time_s)},
          {"ratio", m.ratio > 0 ? finite(m.ratio) : Json(nullptr)},
          {"call_s", finite(m.call_s)},
          {"site", site_json(m.site, sites)}};
}

Json node_json(const DagNode& n, const Sites& sites) {
  Json received = Json::array(), sent = Json::array();
  for (const DagMessage& m : n.received) received.push_back(message_json(m, sites));
  for (const DagMessage& m : n.sent) sent.push_back(message_json(m, sites));
  return {{"rank", n.rank},           {"layer", n.layer},     {"begin_s", finite(n.begin_s)},
          {"end_s", finite(n.end_s)}, {"received", received}, {"sent", sent}};
}

Json edge_json(const DagEdge& e) {
  return {{"from", e.from}, {"to", e.to}, {"messages", e.messages}, {"bytes", e.bytes}, {"ratio", finite(e.ratio)}};
}

Json head_json(const Dag& dag, const std::vector<std::string>& nodes) {
  Json ranks = Json::array();
  for (const DagRank& r : dag.ranks) {
    const bool known = r.compute_node >= 0 && static_cast<std::size_t>(r.compute_node) < nodes.size();
    ranks.push_back({{"rank", r.rank},
                     {"node", known ? Json(nodes[static_cast<std::size_t>(r.compute_node)]) : Json(nullptr)},
                     {"messages", r.messages},
                     {"load_balance", finite(r.load_balance)},
                     {"node_ratio", finite(r.node_ratio)}});
  }
  return {{"region", dag.region >= 0 ? Json(dag.region) : Json(nullptr)},
          {"from_s", finite(dag.from_s)},
          {"to_s", finite(dag.to_s)},
          {"messages", dag.messages},
          {"messages_missing", dag.messages_missing},
          {"partial", dag.partial},
          {"why_partial", dag.partial ? Json(dag.why_partial) : Json(nullptr)},
          {"ranks", ranks}};
}

struct Layer {
  double begin_s = INFINITY;
  double worst = 0;
  std::size_t nodes = 0;
  std::string text;
};

}  // namespace

bool write_dag_json(const Dag& dag, const std::vector<std::string>& nodes, const Sites& sites,
                    const std::function<bool(const std::string&)>& write) {
  std::string head = session::to_text(head_json(dag, nodes), false);
  head.pop_back();  // its brace: the lists go on
  bool good = write(head + ",\n\"nodes\":[");
  const auto list = [&](const auto& values, const auto& to_json) {
    std::string buffer;
    for (std::size_t i = 0; i < values.size() && good; ++i) {
      buffer += (i > 0 ? ",\n" : "\n") + session::to_text(to_json(values[i]), false);
      if (buffer.size() < 1u << 16) continue;
      good = write(buffer);
      buffer.clear();
    }
    good = good && write(buffer);
  };
  list(dag.nodes, [&](const DagNode& node) { return node_json(node, sites); });
  good = good && write("],\n\"edges\":[");
  list(dag.edges, edge_json);
  return good && write("]}\n");
}

std::vector<std::string> dag_lines(const Dag& dag, std::size_t width) {
  std::map<std::int32_t, Layer> layers;
  for (const DagNode& n : dag.nodes) {
    Layer& layer = layers[n.layer];
    ++layer.nodes;
    if (std::isfinite(n.begin_s)) layer.begin_s = std::min(layer.begin_s, n.begin_s);
    for (const DagMessage& m : n.received) layer.worst = std::max(layer.worst, m.ratio);
    layer.text += (layer.text.empty() ? "" : "  ") + std::to_string(n.rank) + ":" + std::to_string(n.received.size()) +
                  ">" + std::to_string(n.sent.size());
  }
  std::vector<std::string> lines;
  lines.push_back((dag.region >= 0 ? "region " + std::to_string(dag.region) + ", " : "") +
                  text::format_moment(dag.from_s) + " to " +
                  (dag.to_s >= dag.from_s ? text::format_moment(dag.to_s) : "the end") + ": " +
                  text::format_count(dag.messages) + " messages of " + std::to_string(dag.ranks.size()) + " ranks, " +
                  text::format_count(dag.nodes.size()) + " nodes, " + text::format_count(dag.edges.size()) +
                  " edges, " + text::format_count(layers.size()) + " layers");
  if (!layers.empty()) lines.push_back("layer      begin  worst ratio  nodes (rank:received>sent)");
  for (const auto& [number, layer] : layers) {
    lines.push_back(text::pad_left(std::to_string(number), 5) + "  " +
                    text::pad_left(text::format_seconds(std::isfinite(layer.begin_s) ? layer.begin_s : 0), 9) + "  " +
                    text::pad_left(layer.worst > 0 ? text::format_ratio(layer.worst) : "-", 11) + "  " + layer.text);
  }
  if (width > 0) {
    for (std::string& line : lines) line = text::clip(line, width);
  }
  return lines;
}

}  // namespace pclscope::views
