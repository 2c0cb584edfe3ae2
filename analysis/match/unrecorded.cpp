// Intervals without events: their sends and receives are told as counts per channel (FORMAT.md: Not
// recorded, but accounted for). An unrecorded message takes its turn like any other; its message has no times.
//
// Until the summary of an interval has been read, the rank owes something. What it could decide waits: of a rank with
// one thread only the cancels of its sends are told late (nothing else of the interval precedes what was recorded
// before it); of a rank with several threads also everything that the other threads record meanwhile, which its
// unrecorded messages may precede. Such a send or receive is known to have no untold message before it once, after it
// was read, there was a moment at which no thread owed anything, and the rings have been read to where they stood then.
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::number_of;
namespace flag = record::flag;

namespace {
// Sends and receives of a rank read while something is owed, beyond which it is given up.
constexpr std::uint64_t owing_limit = 1 << 20;
constexpr std::size_t out_of_place_limit = 64;

// Events of which a summary consists. Others end it.
bool in_summary(const Event& e) {
  switch (e.kind) {
    case EventKind::lost:
    case EventKind::lost_number:
    case EventKind::unrecorded_sends:
    case EventKind::unrecorded_receives:
    case EventKind::comm_created:
    case EventKind::comm_freed:
    case EventKind::send_cancel_request:
    case EventKind::send_cancelled:
    case EventKind::send_not_cancelled: return true;
    default: return e.flags & (flag::unrecorded | flag::matched_probe);
  }
}
}  // namespace

void Matcher::follow_summary(Rank& r, Thread& thread, const Event& e) {
  if (in_summary(e)) return;
  thread.in_summary = false;
  --r.summaries;
}

void Matcher::make_special(std::uint32_t index) { channels_[index].special = true; }

void Matcher::take_unrecorded_sends(std::int32_t rank, Rank& r, const Event& e) {
  if (!is_rank(e.peer) || e.bytes == 0) return;
  if (ranks_[e.peer].away) return forward_(rank, thread_, e);
  const std::uint32_t index = channel(e.comm, rank, e.peer, e.tag);
  Channel& c = channels_[index];
  mark_dirty(index);
  if (r.lossy || c.sends_ambiguous) return ambiguous_sends(c, e.bytes);
  make_special(index);
  const std::uint32_t entry = sends_.take();
  SendEntry& s = sends_[entry];
  s = {number_of(e.begin), 0, std::max(e.begin, e.end), 0, e.bytes, 0, no_index, many_threads, false, true, false};
  unrecorded_sends_ += e.bytes - 1;
  std::uint32_t before = c.send_tail;
  if (before != no_index && place_of(sends_[before]) > place_of(s)) {  // other threads' sends are there already
    before = no_index;
    for (std::uint32_t at = c.send_head; at != no_index && place_of(sends_[at]) <= place_of(s); at = sends_[at].next)
      before = at;
  }
  s.next = before == no_index ? c.send_head : sends_[before].next;
  (before == no_index ? c.send_head : sends_[before].next) = entry;
  if (s.next == no_index) c.send_tail = entry;
}

void Matcher::take_unrecorded_receives(std::int32_t rank, Rank& r, const Event& e) {
  if (!is_rank(e.peer) || e.bytes == 0) return;
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  Channel& c = channels_[index];
  mark_dirty(index);
  if (!r.lossy && std::max(e.begin, e.end) > c.ambiguous_from && e.begin < c.ambiguous_from)
    cut_receives(index, r, e.begin, false);
  if (r.lossy || e.begin >= c.ambiguous_from) return ambiguous_receives(c, e.bytes);
  make_special(index);
  const std::uint32_t entry = recvs_.take();
  recvs_[entry] = {number_of(e.begin),
                   0,
                   std::max(e.begin, e.end),
                   ~0ull,
                   0,
                   e.bytes,
                   no_index,
                   no_index,
                   index,
                   read_round_,
                   RecvState::unrecorded,
                   0,
                   many_threads};
  unrecorded_receives_ += e.bytes - 1;
  insert(index, entry);
}

// Numbers whose events were dropped: they never come.
void Matcher::take_lost_number(std::int32_t rank, Rank& r, const Event& e) {
  const bool of_receives = e.flags & flag::of_receives;
  std::uint64_t& next = of_receives ? r.next_recv : r.next_send;
  if (r.lossy) return;
  if (number_of(e.ordinal) > next) return take_out_of_turn(rank, r, e, !of_receives);
  const std::uint64_t passed = std::max(next, number_of(e.ordinal) + e.bytes) - next;
  next += passed;
  if (r.owing_since != ~0ull) r.owing_since += passed;  // nothing was read: a session may begin after millions of them
  take_parked(rank, r);
}

void Matcher::note_drop(std::int32_t rank, std::uint64_t dropped_total) {
  if (!is_rank(rank)) return;
  ranks_[rank].dropped = std::max(ranks_[rank].dropped, dropped_total);
  note_owing(rank);
}

void Matcher::note_muted(std::int32_t rank, bool muted) {
  if (!is_rank(rank)) return;
  ranks_[rank].was_muted = ranks_[rank].muted;
  ranks_[rank].muted = muted;
  note_owing(rank);
}

void Matcher::note_owing(std::int32_t rank) {
  Rank& r = ranks_[rank];
  if (r.owing_since != ~0ull || !owes(r) || r.lossy) return;
  r.owing_since = r.next_send + r.next_recv;
  owing_.push_back(rank);
}

// Every ring has been read to where it stood at the end of the last round.
void Matcher::mark_round() {
  for (const std::int32_t rank : owing_) {
    // A thread that has written all and is now silent: its summary has been read.
    Rank& r = ranks_[rank];
    if (r.muted || r.was_muted || r.summaries == 0) continue;
    for (Thread& t : r.threads) t.in_summary = false;
    r.summaries = 0;
  }
  for (const std::int32_t rank : several_) {
    Rank& r = ranks_[rank];
    if (r.away) continue;  // set_sender() tells
    r.told_sends = r.marked_sends;
    r.told_recvs = r.marked_recvs;
    if (owes(r)) continue;
    r.marked_sends = r.next_send;
    r.marked_recvs = r.next_recv;
    if (r.out_of_place.size() > out_of_place_limit) {
      // Too many to look at: whatever was posted before the last of them is uncertain.
      std::uint64_t last = 0;
      for (const OutOfPlace& o : r.out_of_place) last = std::max(last, o.number);
      r.out_of_place = {{0, record::any_source, record::any_tag, last}};
    }
  }
  std::erase_if(owing_, [this](std::int32_t rank) {
    Rank& r = ranks_[rank];
    if (owes(r) && !r.lossy && r.next_send + r.next_recv - r.owing_since > owing_limit) mark_lossy(rank);
    if (owes(r) && !r.lossy) return false;
    r.owing_since = ~0ull;
    return true;
  });
}

}  // namespace pclscope
