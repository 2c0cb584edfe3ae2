// Calls that completed sends, and returned only when a receiver was in MPI for them.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/values/wait_state.hpp"
#include "analysis/whatif/graph_build.hpp"
#include "analysis/whatif/usual.hpp"

namespace pclscope::whatif {
namespace {

constexpr std::uint32_t enough_waits = 3;  // of one octave of sizes

bool is_completed_later(const Message& m) {
  namespace flag = record::flag;
  return (m.flags & (flag::nonblocking | flag::persistent)) != 0 &&
         !(m.flags & (flag::buffered | flag::partitioned | message_flag::no_latency)) && m.recv_end >= m.send_begin &&
         m.source != m.destination;
}

// Of an octave of sizes: how long calls waited until the receiver was in MPI, and returned right after; and by how
// long they returned before.
struct Evidence {
  std::int64_t held_ns = 0, before_ns = 0;
  std::uint32_t count = 0;
  bool says_held() const { return count >= enough_waits && held_ns > before_ns; }
};

}  // namespace

void Graph::Build::list_next() {
  next_waiting.assign(g.calls_.size(), nobody);
  next_complete = next_waiting;
  for (std::int32_t r = 0; r < g.ranks(); ++r) {
    std::uint32_t waiting = nobody, complete = nobody;
    for (std::uint32_t c = g.end(r); c-- > g.first(r);) {
      if (!only_starts(call(c))) waiting = c;
      if (completes(call(c))) complete = c;
      next_waiting[c] = waiting;
      next_complete[c] = complete;
    }
  }
}

// What a call received had come at the earliest once it was sent and posted, and a quick transfer later: as long as
// that the call was not held by its sends. Quick: the tenth part of those of its class take less.
void Graph::Build::find_last_received() {
  Quantiles quick(enough_transfers, 0.1);
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c) {
    const std::uint32_t last = last_ready(c);
    if (last == nobody || call(c).end < ready(messages[last])) continue;
    quick.add(class_key(messages[last]), call(c).end - ready(messages[last]));
  }
  quick.close();
  last_received.assign(g.calls_.size(), INT64_MIN);
  for (std::uint32_t c = 0; c < g.calls_.size(); ++c)
    for (const std::uint32_t i : received_by(c))
      last_received[c] =
          std::max(last_received[c], ready(messages[i]) + std::max<std::int64_t>(quick.of(class_key(messages[i])), 0));
}

// Those that the record tells: the receive was posted while the call waited. Which message it is, the ranks and the
// time tell.
void Graph::Build::find_told_waits(std::vector<char>& told) {
  std::unordered_multimap<std::int64_t, std::uint32_t> rows;  // by when the receiver came
  for (std::uint32_t i = 0; i < collectives.size(); ++i)
    if (aside_call[i] != nobody && collectives[i].shape == CollectiveShape::send && collectives[i].wait() > 0)
      rows.emplace(collectives[i].awaited_begin, i);
  for (std::uint32_t i = 0; i < messages.size() && !rows.empty(); ++i) {
    const Message& m = messages[i];
    if (send_call[i] == nobody || post_call[i] == nobody) continue;
    const auto [first, last] = rows.equal_range(m.recv_post);
    for (auto it = first; it != last; ++it) {
      const CollectiveCall& c = collectives[it->second];
      if (c.comm != m.comm || c.rank != m.source || c.awaited != m.destination) continue;
      const HeldWait later = held_wait_of(i, next_of_receiver(m));  // posted, but its data moved only then
      const bool moved = later.right_after && later.call == aside_call[it->second] &&
                         call(later.holder).begin > call(post_call[i]).begin;
      held_waits.push_back({aside_call[it->second], i, moved ? later.holder : post_call[i]});
      told[i] = true;
    }
  }
}

// The call of the sender that was under way when the receiver came, if it could complete the send.
std::uint32_t Graph::Build::wait_of(std::uint32_t message, std::uint32_t next) const {
  const Message& m = messages[message];
  const std::int64_t came = g.calls_[next].begin;
  const auto first = g.calls_.begin() + send_call[message] + 1, last = g.calls_.begin() + g.end(m.source);
  const auto behind = std::partition_point(first, last, [=](const Call& c) { return c.begin < came; });
  if (behind == first || (behind - 1)->end < came) return nobody;
  if (!completes(*(behind - 1))) return nobody;
  return static_cast<std::uint32_t>(behind - 1 - g.calls_.begin());
}

// The call that returned after the receiver had come, long after all that it received can have come; right after it, if
// there is such a one.
Graph::Build::HeldWait Graph::Build::held_wait_of(std::uint32_t message,
                                                  const std::array<std::uint32_t, 2>& of_receiver) const {
  HeldWait latest{nobody, message, nobody, 0, false};
  for (const std::uint32_t next : of_receiver) {
    const std::uint32_t wait = next == nobody ? nobody : wait_of(message, next);
    if (wait == nobody) continue;
    const std::int64_t from = std::max(g.calls_[wait].begin, last_received[wait]);
    const std::int64_t came = g.calls_[next].begin, end = g.calls_[wait].end;
    if (ended_at(from, came, end, Sure::right_after)) return {wait, message, next, came - from, true};
    if (ended_at(from, came, end, Sure::not_before)) latest = {wait, message, next, came - from, false};
  }
  return latest;
}

// How long before the receiver was in MPI next the call had returned that could complete the send.
std::int64_t Graph::Build::returned_before(std::uint32_t message, std::uint32_t next) const {
  const Message& m = messages[message];
  if (next == nobody) return 0;
  const std::int64_t came = g.calls_[next].begin;
  const std::uint32_t complete =
      send_call[message] + 1 < g.end(m.source) ? next_complete[send_call[message] + 1] : nobody;
  return complete == nobody ? 0 : std::max<std::int64_t>(came - g.calls_[complete].end, 0);
}

// The others: MPI ends a send when its receiver is in MPI next, in whatever call, though the receive was posted before
// or is posted later. Whether it does, sends of that size tell that began while the receiver was not in MPI: did the
// call that could complete them return right after the receiver had come, or before?
void Graph::Build::find_held_waits() {
  std::vector<char> told(messages.size());
  find_told_waits(told);
  std::array<Evidence, octaves> seen{};
  std::vector<HeldWait> perhaps;
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const Message& m = messages[i];
    if (told[i] || send_call[i] == nobody || !is_completed_later(m)) continue;
    Evidence& e = seen[octave_of(m.bytes)];
    const auto next = next_of_receiver(m);
    const HeldWait held = held_wait_of(i, next);
    if (held.call == nobody) {
      e.before_ns += returned_before(i, next[0]);
      continue;
    }
    perhaps.push_back(held);
    if (!held.right_after) continue;
    e.held_ns += held.waited_ns;
    ++e.count;
  }
  for (const HeldWait& h : perhaps)
    if (seen[octave_of(messages[h.message].bytes)].says_held()) held_waits.push_back(h);
  for (const HeldWait& h : held_waits) held_until[h.call] = std::max(held_until[h.call], call(h.holder).begin);
}

void Graph::Build::wait_for_receivers() {
  for (const HeldWait& h : held_waits) {
    Call& c = call(h.call);
    const std::int64_t came = call(h.holder).begin;
    std::int64_t lag = c.end - std::max(c.begin, came);
    if (lag < 0) continue;
    if (held_until[h.call] == came) c.own = std::min(c.own, lag);
    else lag = std::min(lag, std::max<std::int64_t>(g.transfers_[h.message].lag, 0));
    arrive(h.call, {h.holder, h.message, lag});
  }
}

}  // namespace pclscope::whatif
