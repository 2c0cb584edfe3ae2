// Threads of one rank write to rings of their own, which are read one after the other; dense ordinals restore the
// order. An event read ahead of a missing ordinal is parked until the missing one turns up or is known to be lost.
#include <algorithm>
#include <functional>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;

namespace {
// Parked events of a rank beyond which the missing ordinal is given up (64 bytes each).
constexpr std::size_t parked_limit = 1 << 20;
}  // namespace

void Matcher::take_out_of_turn(std::int32_t rank, Rank& r, const Event& e, bool is_send) {
  if (r.lossy) return take_event(rank, r, e);
  const std::uint64_t next = is_send ? r.next_send : r.next_recv;
  if (e.ordinal < next) {
    // Only a posting can come here: an ordinal seen twice. The writer is broken, nothing of it is certain.
    lose(rank);
    return take_event(rank, r, e);
  }
  (is_send ? r.parked_sends : r.parked_recvs)[e.ordinal].push_back(e);
  ++r.parked;
  take_parked(rank, r);
  if (r.parked > parked_limit) lose(rank);
}

// Takes whatever has its turn now.
void Matcher::take_parked(std::int32_t rank, Rank& r) {
  const auto advance = [&](Parked& parked, std::uint64_t& next) {
    while (!parked.empty() && parked.begin()->first == next && !r.lossy) {
      std::vector<Event>& events = parked.begin()->second;
      const auto it = std::find_if(events.begin(), events.end(), is_posting);
      if (it == events.end()) return;  // a completion of another thread, its posting not read yet
      std::rotate(events.begin(), it, it + 1);
      const std::vector<Event> taken = std::move(events);
      parked.erase(parked.begin());
      r.parked -= taken.size();
      ++next;
      for (const Event& e : taken) take_event(rank, r, e);
    }
  };
  advance(r.parked_sends, r.next_send);
  advance(r.parked_recvs, r.next_recv);
}

// The rank is lossy: what was parked is taken in order, all of it ambiguous.
void Matcher::flush_parked(std::int32_t rank, Rank& r) {
  const Parked sends = std::move(r.parked_sends), recvs = std::move(r.parked_recvs);
  r.parked_sends.clear();
  r.parked_recvs.clear();
  r.parked = 0;
  for (const auto& parked : {std::cref(sends), std::cref(recvs)})
    for (const auto& [ordinal, events] : parked.get())
      for (const Event& e : events) take_event(rank, r, e);
}

}  // namespace pclscope
