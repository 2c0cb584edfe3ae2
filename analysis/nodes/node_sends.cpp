// Sends to ranks elsewhere, on their way out and in.
#include <algorithm>

#include "analysis/match/matcher.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/nodes/packing.hpp"

namespace pclscope::nodes {

using record::Event;
using record::EventKind;

namespace {
constexpr std::size_t most_unrouted = 4'000'000;
}  // namespace

void Node::route(std::int32_t rank, std::uint8_t thread, const Event& event) {
  const std::int32_t node = node_of_rank_[static_cast<std::size_t>(event.peer)];
  if (node < 0) {
    if (unrouted_.size() < most_unrouted) unrouted_.push_back({rank, thread, event});
    else news_.totals.half_recorded += event.kind == EventKind::send;
    return;
  }
  if (node == self_) return measurement_.matcher().add_remote(rank, thread, event, 0);
  if (reports_.tree().is_dead(node)) {
    news_.totals.half_recorded += event.kind == EventKind::send;
    return;
  }
  SendRecords& sends = sends_[node];
  sends.clock_error_ns = std::max(sends.clock_error_ns, clock_error_);
  Event& sent = sends.events.emplace_back(RankEvent{rank, thread, event}).event;
  const bool has_site = options_.site_of && (event.kind == EventKind::send || event.kind == EventKind::send_done);
  sent.site = has_site ? site_of_node(self_, options_.site_of(rank, event.site, event.function)) : 0;
  if (sends.events.size() >= options_.sends_of_frame) forward_sends_to(node, sends);
}

// A place has become known: what waited for it goes before what follows.
void Node::route_waiting() {
  std::vector<Unrouted> waiting;
  waiting.swap(unrouted_);
  for (const Unrouted& u : waiting) route(u.rank, u.thread, u.event);
}

void Node::forward_sends_to(int node, SendRecords& sends) {
  send(node, pack(sends));
  sends = SendRecords{};
}

void Node::forward_sends() {
  const std::vector<SenderState> news = measurement_.matcher().sender_news();
  for (const SenderState& state : news) unusual_[state.rank] = state;
  if (!news.empty())
    for (const int node : contacted_)
      if (!reports_.tree().is_dead(node)) sends_[node].senders = news;
  for (auto& [node, sends] : sends_) {
    if (contacted_.insert(node).second)
      for (const auto& [rank, state] : unusual_) sends.senders.push_back(state);
    if (!sends.events.empty() || !sends.senders.empty()) forward_sends_to(node, sends);
  }
  sends_.clear();
}

void Node::take_queued_sends() {
  for (const QueuedSends& q : queued_sends_) take_sends(q.from, q.bytes);
  queued_sends_.clear();
  for (const int node : died_)
    for (std::size_t rank = 0; rank < node_of_rank_.size(); ++rank)
      if (node_of_rank_[rank] == node) measurement_.matcher().set_gone(static_cast<std::int32_t>(rank));
  died_.clear();
}

void Node::take_sends(int from, std::span<const std::byte> bytes) {
  SendRecords sends;
  if (!unpack(bytes, sends)) return;
  for (const RankEvent& e : sends.events) {
    if (e.rank < 0 || static_cast<std::size_t>(e.rank) >= node_of_rank_.size() ||
        here_[static_cast<std::size_t>(e.rank)])
      continue;
    if (node_of_rank_[static_cast<std::size_t>(e.rank)] < 0) {
      node_of_rank_[static_cast<std::size_t>(e.rank)] = from;
      measurement_.set_place(e.rank, link_.host_of(from));
      route_waiting();
    }
    measurement_.matcher().add_remote(e.rank, e.thread, e.event, sends.clock_error_ns);
  }
  for (const SenderState& state : sends.senders) measurement_.matcher().set_sender(state);
}

}  // namespace pclscope::nodes
