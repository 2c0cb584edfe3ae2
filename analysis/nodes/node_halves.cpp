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
  if (node == self_) return pipeline_.matcher().add_half(rank, thread, event, 0);
  if (reports_.tree().is_dead(node)) {
    news_.totals.half_recorded += event.kind == EventKind::send;
    return;
  }
  Halves& halves = halves_[node];
  halves.clock_error_ns = std::max(halves.clock_error_ns, clock_error_);
  Event& half = halves.halves.emplace_back(Half{rank, thread, event}).event;
  const bool has_site = options_.site_of && event.kind == EventKind::send;
  half.site = has_site ? site_of_node(self_, options_.site_of(rank, event.site, event.function)) : 0;
  if (halves.halves.size() >= options_.halves_of_frame) send_halves_to(node, halves);
}

// A place has become known: what waited for it goes before what follows.
void Node::route_waiting() {
  std::vector<Unrouted> waiting;
  waiting.swap(unrouted_);
  for (const Unrouted& u : waiting) route(u.rank, u.thread, u.event);
}

void Node::send_halves_to(int node, Halves& halves) {
  send(node, pack(halves));
  halves = Halves{};
}

void Node::send_halves() {
  const std::vector<SenderState> news = pipeline_.matcher().sender_news();
  for (const SenderState& state : news) unusual_[state.rank] = state;
  if (!news.empty())
    for (const int node : contacted_)
      if (!reports_.tree().is_dead(node)) halves_[node].senders = news;
  for (auto& [node, halves] : halves_) {
    if (contacted_.insert(node).second)
      for (const auto& [rank, state] : unusual_) halves.senders.push_back(state);
    if (!halves.halves.empty() || !halves.senders.empty()) send_halves_to(node, halves);
  }
  halves_.clear();
}

void Node::take_queued_halves() {
  for (const QueuedHalves& q : queued_halves_) take_halves(q.from, q.bytes);
  queued_halves_.clear();
  for (const int node : died_)
    for (std::size_t rank = 0; rank < node_of_rank_.size(); ++rank)
      if (node_of_rank_[rank] == node) pipeline_.matcher().set_gone(static_cast<std::int32_t>(rank));
  died_.clear();
}

void Node::take_halves(int from, std::span<const std::byte> bytes) {
  Halves halves;
  if (!unpack(bytes, halves)) return;
  for (const Half& h : halves.halves) {
    if (h.rank < 0 || static_cast<std::size_t>(h.rank) >= node_of_rank_.size() ||
        here_[static_cast<std::size_t>(h.rank)])
      continue;
    if (node_of_rank_[static_cast<std::size_t>(h.rank)] < 0) {
      node_of_rank_[static_cast<std::size_t>(h.rank)] = from;
      pipeline_.set_place(h.rank, from);
      route_waiting();
    }
    pipeline_.matcher().add_half(h.rank, h.thread, h.event, halves.clock_error_ns);
  }
  for (const SenderState& state : halves.senders) pipeline_.matcher().set_sender(state);
}

}  // namespace pclscope::nodes
