#include "analysis/wire/dag_frame.hpp"

#include <algorithm>

#include "analysis/rows/dag_columns.hpp"

namespace pclscope::wire {
namespace {

constexpr char graph_table[] = "graph", ranks_table[] = "ranks", nodes_table[] = "nodes", edges_table[] = "edges";
constexpr char received_table[] = "received", sent_table[] = "sent";

// The next `count` of `all` from `at`, which moves on.
bool take(std::vector<DagMessage>& all, std::size_t& at, std::size_t count, std::vector<DagMessage>& to) {
  if (count > all.size() - at) return false;
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
  to.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  at += count;
  return true;
}

void take_nodes(std::vector<DagNodeRow>& rows, std::vector<DagMessage>& received, std::vector<DagMessage>& sent,
                Dag& to, Budget& budget) {
  const auto nodes = static_cast<std::int32_t>(rows.size());
  for (std::vector<DagMessage>* all : {&received, &sent})
    for (DagMessage& m : *all)
      if (m.other_node < 0 || m.other_node >= nodes) m.other_node = -1;
  std::size_t received_at = 0, sent_at = 0;
  to.nodes.reserve(rows.size());
  for (DagNodeRow& row : rows) {
    DagNode& node = to.nodes.emplace_back(std::move(static_cast<DagNode&>(row)));  // its counts stay
    node.layer = std::clamp(node.layer, 0, nodes);
    if (!take(received, received_at, row.received_count, node.received) ||
        !take(sent, sent_at, row.sent_count, node.sent))
      return budget.refuse();
  }
}

}  // namespace

Offset<fb::DagQuestion> encode(Builder& to, const DagQuestion& value) {
  const auto ranks = to.CreateVectorOfStructs(as_runs(value.ranks));
  fb::DagQuestionBuilder table(to);
  table.add_region(value.region);
  table.add_ranks(ranks);
  table.add_from_ns(value.from_ns);
  table.add_to_ns(value.to_ns);
  table.add_most_messages(value.most_messages);
  return table.Finish();
}

Offset<fb::Dag> encode(Builder& to, const Dag& value) {
  std::vector<DagNodeRow> nodes;
  std::vector<DagMessage> received, sent;
  nodes.reserve(value.nodes.size());
  for (const DagNode& node : value.nodes) {
    DagNodeRow& row = nodes.emplace_back();
    row.rank = node.rank;
    row.layer = node.layer;
    row.begin_s = node.begin_s;
    row.end_s = node.end_s;
    row.received_count = static_cast<std::uint32_t>(node.received.size());
    row.sent_count = static_cast<std::uint32_t>(node.sent.size());
    received.insert(received.end(), node.received.begin(), node.received.end());
    sent.insert(sent.end(), node.sent.begin(), node.sent.end());
  }
  std::vector<Dag> graph(1);  // without its lists
  graph[0].region = value.region;
  graph[0].from_s = value.from_s;
  graph[0].to_s = value.to_s;
  graph[0].messages = value.messages;
  graph[0].messages_missing = value.messages_missing;
  graph[0].partial = value.partial;
  graph[0].why_partial = value.why_partial;
  const Offset<fb::RowTable> tables[] = {
      encode_table(to, graph_table, graph), encode_table(to, ranks_table, value.ranks),
      encode_table(to, nodes_table, nodes), encode_table(to, received_table, received),
      encode_table(to, sent_table, sent),   encode_table(to, edges_table, value.edges)};
  return fb::CreateDag(to, to.CreateVector(tables, std::size(tables)));
}

DagQuestion decode(const fb::DagQuestion& from, Budget& budget) {
  DagQuestion to;
  to.region = std::max(from.region(), -1);
  if (from.ranks())
    each_number(*from.ranks(), limit::question_ranks, budget, [&](std::int32_t rank) { to.ranks.push_back(rank); });
  std::sort(to.ranks.begin(), to.ranks.end());
  to.ranks.erase(std::unique(to.ranks.begin(), to.ranks.end()), to.ranks.end());
  if (!to.ranks.empty() && to.ranks.front() < 0) budget.refuse();
  to.from_ns = from.from_ns();
  to.to_ns = from.to_ns();
  to.most_messages = std::min(from.most_messages(), limit::dag_messages);
  return to;
}

Dag decode(const fb::Dag& from, Budget& budget) {
  std::vector<Dag> graph;
  std::vector<DagNodeRow> nodes;
  std::vector<DagMessage> received, sent;
  decode_table(from.tables(), graph_table, graph, budget);
  if (graph.size() != 1) return budget.refuse(), Dag{};
  Dag to = std::move(graph[0]);
  decode_table(from.tables(), ranks_table, to.ranks, budget);
  decode_table(from.tables(), nodes_table, nodes, budget);
  decode_table(from.tables(), received_table, received, budget);
  decode_table(from.tables(), sent_table, sent, budget);
  decode_table(from.tables(), edges_table, to.edges, budget);
  if (budget.exceeded()) return to;
  for (DagRank& rank : to.ranks) rank.compute_node = std::max(rank.compute_node, -1);
  for (const DagEdge& e : to.edges)
    if (e.from < 0 || e.from >= e.to || e.to >= static_cast<std::int64_t>(nodes.size())) budget.refuse();
  take_nodes(nodes, received, sent, to, budget);
  return to;
}

}  // namespace pclscope::wire
