#include "viewer/session/waits_of_ranks.hpp"

#include <algorithm>
#include <tuple>

namespace pclscope::session {

void WaitsOfRanks::put(const RankWaiting& wait) {
  if (wait.rank >= 0 && wait.end - wait.begin >= least_ns_) waits_.push_back(wait);
}

// As blocked_span() has it.
void WaitsOfRanks::add(const Message& m) {
  const BlockedSpan span = blocked_span(m);
  if (span.late_sender > 0) {
    const std::int64_t begin = std::min(m.recv_wait, m.recv_end);
    put({begin, begin + span.late_sender, m.destination, m.source, WaitState::late_sender});
  }
  if (span.late_receiver > 0)
    put({m.send_begin, m.send_begin + span.late_receiver, m.source, m.destination, WaitState::late_receiver});
}

void WaitsOfRanks::add(const CollectiveCall& call) {
  const std::int64_t wait = call.wait();
  if (wait > 0) put({call.wait_begin(), call.wait_begin() + wait, call.rank, call.awaited, state_of(call)});
}

void WaitsOfRanks::settle() {
  std::sort(waits_.begin(), waits_.end(), [](const RankWaiting& a, const RankWaiting& b) {
    return std::tie(a.rank, a.begin, a.end, a.awaited) < std::tie(b.rank, b.begin, b.end, b.awaited);
  });
  places_.assign(waits_.empty() ? 1 : static_cast<std::size_t>(waits_.back().rank) + 2, 0);
  for (const RankWaiting& wait : waits_) ++places_[static_cast<std::size_t>(wait.rank) + 1];
  for (std::size_t i = 1; i < places_.size(); ++i) places_[i] += places_[i - 1];
}

std::span<const RankWaiting> WaitsOfRanks::of(std::int32_t rank) const {
  const auto at = static_cast<std::size_t>(rank);
  if (rank < 0 || at + 1 >= places_.size()) return {};
  return std::span(waits_).subspan(places_[at], places_[at + 1] - places_[at]);
}

WaitsOfRanks::Inside WaitsOfRanks::inside(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns) const {
  const auto waits = of(rank);
  Inside inside;
  std::int64_t until = begin_ns;
  for (auto wait = std::lower_bound(waits.begin(), waits.end(), begin_ns,
                                    [](const RankWaiting&w, std::int64_t ns) { return w.begin < ns; });
       wait != waits.end() && wait->begin < end_ns; ++wait) {
    const std::int64_t end = std::min(wait->end, end_ns);
    inside.waited_ns += std::max<std::int64_t>(end - std::max(wait->begin, until), 0);
    until = std::max(until, end);
    if (inside.longest == nullptr || end - wait->begin > inside.longest->end - inside.longest->begin)
      inside.longest = &*wait;
  }
  return inside;
}

}  // namespace pclscope::session
