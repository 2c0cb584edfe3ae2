#include "analysis/wire/dag_frame.hpp"

#include <algorithm>

namespace pclscope::wire {
namespace {

void append(std::vector<fb::DagMessage>& to, const std::vector<DagMessage>& messages) {
  for (const DagMessage& m : messages) {
    to.emplace_back(m.begin_s, m.time_s, m.ratio, m.bytes, m.other_node, m.peer, m.tag, 0);
  }
}

using Messages = flatbuffers::Vector<const fb::DagMessage*>;

std::size_t size_of(const Messages* all) { return all ? all->size() : 0; }

// The next `count` of `all` from `at`, which moves on.
void take(const Messages* all, std::size_t& at, std::size_t count, std::int64_t nodes, std::vector<DagMessage>& to) {
  to.reserve(count);
  for (; count > 0; count--, at++) {
    const fb::DagMessage& m = *all->Get(static_cast<flatbuffers::uoffset_t>(at));
    const bool known = m.other_node() >= 0 && m.other_node() < nodes;
    to.push_back({known ? m.other_node() : -1, m.peer(), m.tag(), m.bytes(), finite(m.begin_s()), finite(m.time_s()),
                  finite(m.ratio())});
  }
}

// Structs of 8-byte numbers, read in place.
template <class Struct>
bool readable(const flatbuffers::Vector<const Struct*>* vector) {
  return !vector || is_aligned(*vector, alignof(Struct));
}

void decode_nodes(const fb::Dag& from, Dag& to, Budget& budget) {
  if (!from.nodes()) return;
  const std::size_t nodes = from.nodes()->size(), received = size_of(from.received()), sent = size_of(from.sent());
  if (!budget.take(nodes, sizeof(DagNode)) || !budget.take(received, sizeof(DagMessage)) ||
      !budget.take(sent, sizeof(DagMessage)))
    return;
  to.nodes.reserve(nodes);
  std::size_t received_at = 0, sent_at = 0;
  for (const fb::DagNode* n : *from.nodes()) {
    if (n->received() > received - received_at || n->sent() > sent - sent_at) return budget.refuse();
    DagNode& node = to.nodes.emplace_back();
    node.rank = n->rank();
    node.layer = std::clamp(n->layer(), 0, static_cast<std::int32_t>(nodes));
    node.begin_s = finite(n->begin_s());
    node.end_s = finite(n->end_s());
    take(from.received(), received_at, n->received(), static_cast<std::int64_t>(nodes), node.received);
    take(from.sent(), sent_at, n->sent(), static_cast<std::int64_t>(nodes), node.sent);
  }
}

void decode_edges(const fb::Dag& from, Dag& to, Budget& budget) {
  if (!from.edges() || !budget.take(from.edges()->size(), sizeof(DagEdge))) return;
  const auto nodes = static_cast<std::int64_t>(to.nodes.size());
  to.edges.reserve(from.edges()->size());
  for (const fb::DagEdge* e : *from.edges()) {
    if (e->from() < 0 || e->from() >= e->to() || e->to() >= nodes) return budget.refuse();
    to.edges.push_back({e->from(), e->to(), e->messages(), e->bytes(), finite(e->ratio())});
  }
}

}  // namespace

Offset<fb::DagQuestion> encode(Builder& to, const DagQuestion& value) {
  const auto ranks = to.CreateVectorOfStructs(as_ranges(value.ranks));
  fb::DagQuestionBuilder table(to);
  table.add_region(value.region);
  table.add_ranks(ranks);
  table.add_from_ns(value.from_ns);
  table.add_to_ns(value.to_ns);
  table.add_most_messages(value.most_messages);
  return table.Finish();
}

Offset<fb::Dag> encode(Builder& to, const Dag& value) {
  std::vector<fb::DagRank> ranks;
  std::vector<fb::DagNode> nodes;
  std::vector<fb::DagMessage> received, sent;
  std::vector<fb::DagEdge> edges;
  for (const DagRank& r : value.ranks)
    ranks.emplace_back(r.messages, r.load_balance, r.node_ratio, r.rank, r.compute_node);
  nodes.reserve(value.nodes.size());
  for (const DagNode& n : value.nodes) {
    nodes.emplace_back(n.begin_s, n.end_s, n.rank, n.layer, static_cast<std::uint32_t>(n.received.size()),
                       static_cast<std::uint32_t>(n.sent.size()));
    append(received, n.received);
    append(sent, n.sent);
  }
  edges.reserve(value.edges.size());
  for (const DagEdge& e : value.edges) edges.emplace_back(e.bytes, e.ratio, e.from, e.to, e.messages, 0);
  const auto all_ranks = to.CreateVectorOfStructs(ranks);
  const auto all_nodes = to.CreateVectorOfStructs(nodes);
  const auto all_received = to.CreateVectorOfStructs(received);
  const auto all_sent = to.CreateVectorOfStructs(sent);
  const auto all_edges = to.CreateVectorOfStructs(edges);
  const auto why = to.CreateString(value.why_partial);
  return fb::CreateDag(to, value.region, value.from_s, value.to_s, all_ranks, all_nodes, all_received, all_sent,
                       all_edges, value.messages, value.messages_missing, value.partial, why);
}

DagQuestion decode(const fb::DagQuestion& from, Budget& budget) {
  DagQuestion to;
  to.region = std::max(from.region(), -1);
  to.ranks = ranks(from.ranks(), budget);
  if (to.ranks.size() > limit::question_ranks) return budget.refuse(), to;
  std::sort(to.ranks.begin(), to.ranks.end());
  to.ranks.erase(std::unique(to.ranks.begin(), to.ranks.end()), to.ranks.end());
  to.from_ns = from.from_ns();
  to.to_ns = from.to_ns();
  to.most_messages = std::min(from.most_messages(), limit::dag_messages);
  return to;
}

Dag decode(const fb::Dag& from, Budget& budget) {
  Dag to;
  if (!readable(from.ranks()) || !readable(from.nodes()) || !readable(from.received()) || !readable(from.sent()) ||
      !readable(from.edges())) {
    return budget.refuse(), to;
  }
  to.region = from.region();
  to.from_s = finite(from.from_s());
  to.to_s = finite(from.to_s());
  if (from.ranks() && budget.take(from.ranks()->size(), sizeof(DagRank))) {
    for (const fb::DagRank* r : *from.ranks()) {
      to.ranks.push_back({r->rank(), std::max(r->compute_node(), -1), r->messages(), finite(r->load_balance()),
                          finite(r->node_ratio())});
    }
  }
  decode_nodes(from, to, budget);
  decode_edges(from, to, budget);
  to.messages = from.messages();
  to.messages_missing = from.messages_missing();
  to.partial = from.partial();
  to.why_partial = text(from.why_partial(), budget);
  return to;
}

}  // namespace pclscope::wire
