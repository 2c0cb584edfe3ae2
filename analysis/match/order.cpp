// Threads of one rank write to rings of their own, which are read one after the other; dense numbers restore the
// order. An event read ahead of a missing number is parked until the missing one turns up or is known to be lost.
#include <algorithm>
#include <functional>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::number_of;

namespace {
// Parked events of a rank beyond which the missing number is given up (64 bytes each).
constexpr std::size_t parked_limit = 1 << 20;

bool is_unrecorded(const Event& e) {
  return e.kind == EventKind::unrecorded_sends || e.kind == EventKind::unrecorded_receives;
}
}  // namespace

void Matcher::take_out_of_turn(std::int32_t rank, Rank& r, const Event& e, bool is_send) {
  if (r.lossy) return take_event(rank, r, e);
  const std::uint64_t next = is_send ? r.next_send : r.next_recv;
  const std::uint64_t number = is_unrecorded(e) ? e.begin : number_of(e.ordinal);
  if (number < next) {
    // Only a posting can come here: a number seen twice. The writer is broken, nothing of it is certain.
    mark_lossy(rank);
    return take_event(rank, r, e);
  }
  // It may come before others that have their turn now.
  if (e.kind == EventKind::recv_post && e.flags & record::flag::out_of_order && r.several)
    r.out_of_place.push_back({e.comm, e.peer, e.tag, number});
  (is_send ? r.parked_sends : r.parked_recvs)[number].push_back({e, thread_});
  ++r.parked;
  take_parked(rank, r);
  if (r.parked > parked_limit) mark_lossy(rank);
}

// Takes whatever has its turn now.
void Matcher::take_parked(std::int32_t rank, Rank& r) {
  const std::uint8_t thread = thread_;
  const auto take = [&](const ParkedEvent& parked) {
    thread_ = parked.thread;
    take_event(rank, r, parked.event);
  };
  const auto advance = [&](Parked& parked, std::uint64_t& next) {
    while (!parked.empty() && parked.begin()->first <= next && !r.lossy) {
      std::vector<ParkedEvent>& events = parked.begin()->second;
      const bool passed = parked.begin()->first < next;  // its number was lost, says a lost_number
      const auto first = std::stable_partition(events.begin(), events.end(),
                                               [](const ParkedEvent& p) { return is_unrecorded(p.event); });
      const auto it = std::find_if(first, events.end(), [](const ParkedEvent& p) { return is_posting(p.event); });
      if (it == events.end() && !passed) {
        // A completion of another thread, its posting not read yet. Unrecorded ones come before the number.
        const std::vector<ParkedEvent> unrecorded(events.begin(), first);
        events.erase(events.begin(), first);
        r.parked -= unrecorded.size();
        if (events.empty()) parked.erase(parked.begin());
        for (const ParkedEvent& p : unrecorded) take(p);
        return;
      }
      if (it != events.end()) {
        std::rotate(first, it, it + 1);
        const Event& posting = first->event;
        next =
            std::max(next, number_of(posting.ordinal) + (posting.kind == EventKind::lost_number ? posting.bytes : 1));
      }
      const std::vector<ParkedEvent> taken = std::move(events);
      parked.erase(parked.begin());
      r.parked -= taken.size();
      for (const ParkedEvent& p : taken) take(p);
    }
  };
  advance(r.parked_sends, r.next_send);
  advance(r.parked_recvs, r.next_recv);
  thread_ = thread;
}

// The rank is lossy: what was parked is taken in order, all of it ambiguous.
void Matcher::flush_parked(std::int32_t rank, Rank& r) {
  const Parked sends = std::move(r.parked_sends), recvs = std::move(r.parked_recvs);
  r.parked_sends.clear();
  r.parked_recvs.clear();
  r.parked = 0;
  for (const auto& parked : {std::cref(sends), std::cref(recvs)})
    for (const auto& [number, events] : parked.get())
      for (const ParkedEvent& p : events) take_event(rank, r, p.event);
}

}  // namespace pclscope
