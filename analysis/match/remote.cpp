// Ranks of other nodes: what they sent comes already in its turn (the matcher that reads their rings has put
// it in order), with a SenderState wherever more than that must be known.
//
// Rounds are epochs here. A completion that was read in epoch e, and a cancel of a send from before it: the sender's
// node read its headers at the end of epoch e + 1, after epoch e was over everywhere, so after that completion. Then
// either an interval without events that holds the cancel was seen (it owes something), or the cancel was in a ring, to
// be read in epoch e + 2 at the latest (the rings are read before the headers). When that is over here, the cancel is
// here too. What is read between end_epoch() and epoch_over() belongs to the next epoch.
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::number_of;

void Matcher::set_forward(Forward forward) {
  forward_ = std::move(forward);
  epochs_ = true;
  told_states_.resize(ranks_.size());
  for (Rank& r : ranks_) r.away = true;
}

void Matcher::set_here(std::int32_t rank) {
  if (!is_rank(rank) || !ranks_[rank].away) return;
  ranks_[rank].away = false;
  here_.insert(std::upper_bound(here_.begin(), here_.end(), rank), rank);
}

void Matcher::add_remote(std::int32_t rank, std::uint8_t thread, const Event& event, std::uint32_t clock_error_ns) {
  if (!is_rank(rank) || !is_rank(event.peer) || ranks_[event.peer].away) return;
  Rank& r = ranks_[rank];
  thread_ = thread;
  half_error_ = r.away ? clock_error_ns : 0;
  if (event.kind == EventKind::send) {
    if (r.away) r.next_send = std::max(r.next_send, number_of(event.ordinal) + 1);
    take_send(rank, r, event);
  } else if (event.kind == EventKind::unrecorded_sends) {
    if (r.away && !r.several) r.next_send = std::max(r.next_send, event.begin);
    take_unrecorded_sends(rank, r, event);
  } else if (event.kind == EventKind::send_done) {
    if (send_done_) send_done_(rank, event, r.away);
  } else {
    take_send_cancel(rank, event);
  }
  half_error_ = 0;
}

// The other matcher learns at the end of the epoch that the rank is lossy, and from when on with each send.
void Matcher::forward_send(std::int32_t rank, const Rank& r, const Event& e) {
  if (!r.lossy) return forward_(rank, thread_, e);
  Event doubtful = e;
  doubtful.flags |= record::flag::unordered;
  forward_(rank, thread_, doubtful);
}

std::vector<SenderState> Matcher::sender_news() {
  std::vector<SenderState> news;
  for (const std::int32_t rank : here_) {
    const Rank& r = ranks_[rank];
    SenderState state{rank, 0, 0, 0, r.several, owes(r), r.lossy, r.finalized && r.several};
    // Of a rank with one thread its sends tell all the rest.
    if (r.several) {
      state.next_send = r.next_send;
      state.told_sends = r.told_sends;
      state.latest_send_begin = r.latest_send_begin;
    }
    if (state.rank == told_states_[rank].rank && state == told_states_[rank]) continue;
    const bool unusual = state.several || state.owes || state.lossy;
    const SenderState& before = told_states_[rank];
    if (unusual || before.several || before.owes || before.lossy) news.push_back(state);
    told_states_[rank] = state;
  }
  return news;
}

void Matcher::set_sender(const SenderState& state) {
  if (!is_rank(state.rank) || !ranks_[state.rank].away) return;
  Rank& r = ranks_[state.rank];
  if (state.several) {
    set_threads(state.rank, true);
    r.next_send = std::max(r.next_send, state.next_send);
    r.told_sends = std::max(r.told_sends, state.told_sends);
    r.latest_send_begin = std::max(r.latest_send_begin, state.latest_send_begin);
  }
  r.muted = state.owes;
  r.finalized |= state.finalized;
  if (state.lossy) mark_lossy(state.rank);
}

// The headers have just been read. Marked now, not when the epoch is over: what is read in between may follow an
// interval that began after that.
void Matcher::end_epoch() {
  mark_round();
  ++read_round_;
}

void Matcher::last_events() {
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(ranks_.size()); ++rank) {
    const Rank& r = ranks_[rank];
    if (!r.away && (r.parked > 0 || r.muted || r.dropped > r.told)) mark_lossy(rank);
  }
}

// Cancels may be among what was not forwarded: only its blocking sends keep their receives. Other receives are half
// recorded (drain()).
void Matcher::set_gone(std::int32_t rank) {
  if (!is_rank(rank) || !ranks_[rank].away) return;
  mark_lossy(rank);
  ranks_[rank].gone = true;
}

void Matcher::epoch_over() {
  round_ = static_cast<std::uint8_t>(read_round_ - 1);
  drain_dirty(Drain::end_of_round);
  sweep();
}

}  // namespace pclscope
