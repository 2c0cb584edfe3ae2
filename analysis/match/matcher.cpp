#include "analysis/match/matcher.hpp"

#include <algorithm>

#include "analysis/values/site_key.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::number_of;
namespace flag = record::flag;

bool Matcher::is_posting(const Event& e) {
  switch (e.kind) {
    case EventKind::send:
    case EventKind::recv_post:
    case EventKind::lost_number: return true;
    case EventKind::recv_done: return !(e.flags & flag::posted);
    case EventKind::recv_cancelled: return e.flags & flag::failed && !(e.flags & flag::posted);
    default: return false;
  }
}

Matcher::Matcher(std::int32_t ranks, Sink sink) : sink_(std::move(sink)), ranks_(std::max(ranks, 0)) {}

void Matcher::set_node(std::int32_t rank, std::int32_t node) {
  if (is_rank(rank)) ranks_[rank].node = node;
}

void Matcher::set_threads(std::int32_t rank, bool several) {
  if (!is_rank(rank) || !several || ranks_[rank].several) return;
  ranks_[rank].several = true;
  several_.push_back(rank);
  channels_.for_each([&](std::uint32_t index) {
    if (channels_[index].source == rank || channels_[index].destination == rank) make_special(index);
  });
}

void Matcher::note_read(Rank& r, std::uint32_t thread, std::uint64_t until) {
  std::uint64_t& of_thread = r.threads[thread].read_until;
  of_thread = std::max(of_thread, until);
  r.read_until = ~0ull;
  for (const Thread& t : r.threads) r.read_until = std::min(r.read_until, t.read_until);
}

// The call of this completion completed no other receive, as far as its neighbours show: a call stands before what it
// completed, and the thread's next one begins after it.
static bool is_alone(std::span<const Event> events, const Event* e) {
  if (e == events.data() || e == &events.back()) return false;
  return e[-1].kind == EventKind::call && e[-1].begin == e->begin && e[-1].end == e->end && e[1].begin >= e->end;
}

void Matcher::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  if (!is_rank(rank) || events.empty()) return;
  Rank& r = ranks_[rank];
  constexpr std::uint32_t thread_limit = 1024;
  thread = std::min(thread, thread_limit);
  if (r.threads.size() <= thread) r.threads.resize(thread + 1);
  if (thread > 0) set_threads(rank, true);
  thread_ = static_cast<std::uint8_t>(std::min<std::uint32_t>(thread, many_threads));
  Thread& t = r.threads[thread];
  for (const Event& e : events) {
    if (t.in_summary) [[unlikely]]
      follow_summary(r, t, e);
    // The usual ones at once: in turn, of ranks with one thread.
    if (e.kind == EventKind::send && e.ordinal == r.next_send && r.parked_sends.empty()) {
      ++r.next_send;
      take_send(rank, r, e);
    } else if (e.kind == EventKind::recv_post && e.ordinal == r.next_recv && r.parked_recvs.empty()) {
      ++r.next_recv;
      take_post(rank, r, e);
    } else if (e.kind == EventKind::recv_done && e.flags & flag::posted && e.ordinal < r.next_recv) {
      take_completion(rank, r, e, is_alone(events, &e));
    } else if (e.kind != EventKind::call) {
      read(rank, r, e);
      if (e.kind == EventKind::lost && e.flags & flag::summarised && !t.in_summary) {
        t.in_summary = true;
        if (r.summaries++ == 0) r.summary_recv = r.next_recv;
        note_owing(rank);
      }
    }
  }
  // Calls of a thread do not overlap: what follows began after the last one ended. But a summary tells what was before
  // it, and counters stand in place of times in some of its events.
  if (!t.in_summary && events.back().kind != EventKind::unrecorded_receives) note_read(r, thread, events.back().end);
}

// Takes the event if it is its turn, else it is parked.
void Matcher::read(std::int32_t rank, Rank& r, const Event& e) {
  const std::uint64_t number = number_of(e.ordinal);
  switch (e.kind) {
    case EventKind::send:
      if (number == r.next_send && r.parked_sends.empty()) [[likely]] {
        ++r.next_send;
        return take_send(rank, r, e);
      }
      return take_out_of_turn(rank, r, e, true);
    case EventKind::recv_post:
      if (number == r.next_recv && r.parked_recvs.empty()) [[likely]] {
        ++r.next_recv;
        return take_post(rank, r, e);
      }
      if (e.flags & flag::matched_probe && number < r.next_recv) return take_resolution(rank, r, e);
      return take_out_of_turn(rank, r, e, false);
    case EventKind::recv_done:
    case EventKind::recv_cancelled:
    case EventKind::recv_freed: return read_receive_end(rank, r, e);
    case EventKind::send_cancel_request:
    case EventKind::send_cancelled:
    case EventKind::send_not_cancelled:
      return number < r.next_send ? take_send_cancel(rank, e) : take_out_of_turn(rank, r, e, true);
    case EventKind::lost:
      r.told += e.ordinal;
      if (!(e.flags & flag::summarised)) mark_lossy(rank);
      return;
    case EventKind::send_done:
      if (!is_rank(e.peer)) return;
      if (ranks_[e.peer].away) return forward_(rank, thread_, e);
      if (send_done_) send_done_(rank, e, false);
      return;
    case EventKind::unrecorded_sends:
      return e.begin <= r.next_send ? take_unrecorded_sends(rank, r, e) : take_out_of_turn(rank, r, e, true);
    case EventKind::unrecorded_receives:
      return e.begin <= r.next_recv ? take_unrecorded_receives(rank, r, e) : take_out_of_turn(rank, r, e, false);
    case EventKind::lost_number: return take_lost_number(rank, r, e);
    case EventKind::finalize: r.finalized = true; return;
    default: return;
  }
}

void Matcher::read_receive_end(std::int32_t rank, Rank& r, const Event& e) {
  const std::uint64_t number = number_of(e.ordinal);
  if (e.kind == EventKind::recv_done) {
    if (e.flags & flag::posted && number < r.next_recv) [[likely]]
      return take_completion(rank, r, e);
    if (number != r.next_recv || !r.parked_recvs.empty() || e.flags & flag::posted)
      return take_out_of_turn(rank, r, e, false);
    ++r.next_recv;
    return take_blocking_receive(rank, r, e);
  }
  if (is_posting(e) && number == r.next_recv && r.parked_recvs.empty())
    ++r.next_recv;  // MPI refused it: nothing was posted
  else number < r.next_recv ? take_removal(rank, r, e) : take_out_of_turn(rank, r, e, false);
}

void Matcher::take_event(std::int32_t rank, Rank& r, const Event& e) {
  switch (e.kind) {
    case EventKind::send: return take_send(rank, r, e);
    case EventKind::recv_post: return take_post(rank, r, e);
    case EventKind::recv_done:
      return e.flags & flag::posted ? take_completion(rank, r, e) : take_blocking_receive(rank, r, e);
    case EventKind::recv_cancelled:
    case EventKind::recv_freed: return take_removal(rank, r, e);
    case EventKind::unrecorded_sends: return take_unrecorded_sends(rank, r, e);
    case EventKind::unrecorded_receives: return take_unrecorded_receives(rank, r, e);
    case EventKind::lost_number: return;
    default: return take_send_cancel(rank, e);
  }
}

void Matcher::begin_channel(std::uint32_t index) {
  const Channel& c = channels_[index];
  if (ranks_[c.source].several || ranks_[c.destination].several) make_special(index);
  for (const Poison& p : poisons_)
    if (p.covers(c)) channels_[index].ambiguous_from = std::min(c.ambiguous_from, p.from);
}

void Matcher::mark_dirty(std::uint32_t index) {
  Channel& c = channels_[index];
  if (c.dirty) return;
  c.dirty = true;
  dirty_.push_back(index);
}

void Matcher::take_send(std::int32_t rank, Rank& r, const Event& e) {
  if (r.several) r.latest_send_begin = std::max(r.latest_send_begin, e.begin);
  if (e.peer == record::proc_null) return;
  if (!is_rank(e.peer) || e.flags & flag::foreign) {
    if (!(e.flags & flag::failed)) ++counts_.foreign;
    return;
  }
  if (ranks_[e.peer].away) [[unlikely]]
    return forward_send(rank, r, e);
  const std::uint32_t index = channel(e.comm, rank, e.peer, e.tag);
  Channel& c = channels_[index];
  // Nobody knows whether a failed send became a message: what follows on the channel is not certain.
  if (e.flags & (flag::failed | flag::unordered)) c.sends_ambiguous = true;
  if (e.flags & flag::failed) {
    if (c.special)
      for (std::uint32_t at = c.send_head; at != no_index; at = sends_[at].next)
        if (const SendEntry& s = sends_[at];
            number_of(s.ordinal) + record::concurrent_of(s.ordinal) >= number_of(e.ordinal))
          sends_[at].raced = true;
    return mark_dirty(index);
  }
  if (r.lossy || c.sends_ambiguous) {
    mark_dirty(index);
    return ambiguous_sends(c);
  }
  const std::uint32_t flags = is_sendrecv(e.function) ? e.flags | message_flag::sendrecv_send : e.flags;
  const std::uint32_t entry = sends_.take();
  sends_[entry] = {e.ordinal, e.begin, e.end,    r.away ? e.site : site_key(e),
                   e.bytes,   flags,   no_index, thread_,
                   false,     false,   false,    half_error_};
  if (record::concurrent_of(e.ordinal) != 0) make_special(index);
  if (c.send_head == no_index) {
    c.send_head = entry;
  } else {
    sends_[c.send_tail].next = entry;
    sends_.note_next(c.send_tail, entry);
  }
  c.send_tail = entry;
  if (c.recv_head != no_index || c.late != no_index || receives_in_doubt(c)) mark_dirty(index);
}

void Matcher::take_send_cancel(std::int32_t rank, const Event& e) {
  if (!is_rank(e.peer)) return;
  if (ranks_[e.peer].away) return forward_(rank, thread_, e);
  const std::uint32_t index = channel(e.comm, rank, e.peer, e.tag);
  Channel& c = channels_[index];
  std::uint32_t before = no_index, at = c.send_head;
  const std::uint64_t number = number_of(e.ordinal);
  while (at != no_index && (sends_[at].unrecorded || number_of(sends_[at].ordinal) != number)) {
    before = at;
    at = sends_[at].next;
  }
  mark_dirty(index);
  if (at == no_index) return cancel_of_paired(index, e);
  sends_[at].held = e.kind == EventKind::send_cancel_request;
  if (e.kind == EventKind::send_cancelled) take_send_out(c, before, at);
}

// Takes the send out of the channel: `before` is the one before it, or no_index.
void Matcher::take_send_out(Channel& c, std::uint32_t before, std::uint32_t at) {
  (before == no_index ? c.send_head : sends_[before].next) = sends_[at].next;
  if (c.send_tail == at) c.send_tail = before;
  give_send(at);
}

void Matcher::give_send(std::uint32_t entry) {
  if (sends_[entry].unrecorded) unrecorded_sends_ -= sends_[entry].bytes - 1;
  sends_.give(entry);
}

void Matcher::give_receive(std::uint32_t entry) {
  if (recvs_[entry].state == RecvState::unrecorded) unrecorded_receives_ -= recvs_[entry].bytes - 1;
  recvs_.give(entry);
}

}  // namespace pclscope
