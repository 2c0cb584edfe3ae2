// Pairs on special channels: of ranks with several threads, or with sends or receives that left no events.
//
// Two calls are concurrent when the later one's number lies in the earlier one's window: up to its number plus its
// concurrent count. Concurrent sends (receives) of a channel permute among themselves only: every message of such a
// cluster is counted as ambiguous, and behind it the channel is exact again, because the numbers of sends and receives
// are right. A cluster is paired off one by one as its receives complete, so that it takes no memory, in the order of
// the numbers; which of its sends are taken by then is not known, only how many (cancel_of_paired).
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::number_of;

namespace {

constexpr std::uint64_t unknown = ~0ull;

// Last number of the window. A saturated count tells nothing: all that began before the call returned, known once
// something is known to have begun later.
std::uint64_t window_end(std::uint64_t ordinal, std::uint64_t call_end, std::uint64_t next,
                         std::uint64_t latest_begin) {
  const std::uint64_t concurrent = record::concurrent_of(ordinal);
  if (concurrent < record::concurrent_limit) return number_of(ordinal) + concurrent;
  return latest_begin > call_end ? next - 1 : unknown;
}

}  // namespace

Matcher::Verdict Matcher::races_of_receive(std::uint32_t index, std::uint32_t entry, Drain when) {
  Channel& c = channels_[index];
  Rank& r = ranks_[c.destination];
  const RecvEntry& recv = recvs_[entry];
  const std::uint64_t number = number_of(recv.ordinal);
  const bool last_chance = when == Drain::end_of_job;
  if (recv.state == RecvState::unrecorded) return Verdict::exact;
  if (!last_chance && r.several && number >= r.told_recvs) return mark_dirty(index), Verdict::wait;
  if (!last_chance && r.summaries > 0 && number >= r.summary_recv) return mark_dirty(index), Verdict::wait;
  if (recv.bits & recv_bit::out_of_order) return Verdict::ambiguous;
  for (const OutOfPlace& o : r.out_of_place) {
    const bool covers = (o.comm == 0 || o.comm == c.comm) && (o.source == record::any_source || o.source == c.source) &&
                        (o.tag == record::any_tag || o.tag == c.tag);
    if (covers && number <= o.number) return Verdict::ambiguous;
  }
  const auto races = races_.find(index);
  if (races != races_.end() && number < races->second.recv_end && !same_thread(recv.thread, races->second.recv_thread))
    return Verdict::ambiguous;
  std::uint64_t end = window_end(recv.ordinal, recv.end, r.next_recv, r.latest_recv_begin);
  if (last_chance && r.finalized) end = std::min(end, r.next_recv - 1);  // nothing is missing: numbers were given back
  if (end == unknown || end >= r.next_recv) return mark_dirty(index), last_chance ? Verdict::ambiguous : Verdict::wait;
  if (record::concurrent_of(recv.ordinal) == 0) return Verdict::exact;
  if (end >= c.ambiguous_from) return Verdict::ambiguous;  // concurrent with one that completes unseen
  if (r.wildcards.open() != 0) {
    const std::uint32_t claimer = r.wildcards.blocker(c.comm, c.source, c.tag, end + 1, recvs_);
    if (claimer != no_index) return hang_on(index, claimer), last_chance ? Verdict::ambiguous : Verdict::wait;
  }
  // Those that may come to nothing are waited for: behind them everything waits anyway.
  Verdict verdict = Verdict::exact;
  const auto meet = [&](std::uint32_t other) {
    const RecvEntry& o = recvs_[other];
    if (other == entry || number_of(o.ordinal) > end || o.state == RecvState::gone) return;
    if (same_thread(o.thread, recv.thread) || verdict == Verdict::ambiguous) return;
    verdict = o.state == RecvState::posted && !last_chance ? Verdict::wait : Verdict::ambiguous;
  };
  for (std::uint32_t at = c.recv_head; at != no_index && number_of(recvs_[at].ordinal) <= end; at = recvs_[at].next)
    meet(at);
  if (c.late != no_index)
    for (const Late& late : late_[c.late]) meet(late.entry);
  return verdict;
}

Matcher::Verdict Matcher::races_of_send(std::uint32_t index, std::uint32_t sent, Drain when) {
  Channel& c = channels_[index];
  const Rank& r = ranks_[c.source];
  const SendEntry& send = sends_[sent];
  const std::uint64_t number = number_of(send.ordinal);
  const bool last_chance = when == Drain::end_of_job;
  if (send.unrecorded) return Verdict::exact;
  if (!last_chance && r.several && number >= r.told_sends) return mark_dirty(index), Verdict::wait;
  const auto races = races_.find(index);
  const bool known =
      races != races_.end() && number < races->second.send_end && !same_thread(send.thread, races->second.send_thread);
  std::uint64_t end = window_end(send.ordinal, send.end, r.next_send, r.latest_send_begin);
  if (last_chance && r.finalized) end = std::min(end, r.next_send - 1);
  // Even when it is known to be ambiguous: whoever could have been taken instead must be here (cancel_of_paired).
  if (end == unknown || end >= r.next_send) return mark_dirty(index), last_chance ? Verdict::ambiguous : Verdict::wait;
  if (known || send.raced) return Verdict::ambiguous;
  for (std::uint32_t at = send.next; at != no_index && number_of(sends_[at].ordinal) <= end; at = sends_[at].next)
    if (!same_thread(sends_[at].thread, send.thread)) return Verdict::ambiguous;
  return Verdict::exact;
}

Matcher::Verdict Matcher::judge(std::uint32_t index, std::uint32_t entry, std::uint32_t sent, Drain when) {
  Channel& c = channels_[index];
  const RecvEntry& recv = recvs_[entry];
  const SendEntry& send = sends_[sent];
  const auto races = races_.find(index);
  const bool known = races != races_.end();
  if (known && races->second.cancelling > 0) return Verdict::wait;
  const Verdict of_receive = races_of_receive(index, entry, when);
  if (of_receive == Verdict::wait) return Verdict::wait;
  const Verdict of_send = races_of_send(index, sent, when);
  if (of_send == Verdict::wait) return Verdict::wait;
  const bool cancellable = send.unrecorded || can_be_cancelled(send) || (known && races->second.cancellable);
  if (cancellable && !certain_pair(c, recv, when)) return mark_dirty(index), Verdict::wait;
  const bool no_receive = recv.state == RecvState::unrecorded || recv.bits & recv_bit::unseen_end;
  if (no_receive || send.unrecorded) return no_receive && send.unrecorded ? Verdict::neither : Verdict::half;
  return of_receive == Verdict::ambiguous || of_send == Verdict::ambiguous ? Verdict::ambiguous : Verdict::exact;
}

void Matcher::pair_special(std::uint32_t index, std::uint32_t entry, std::uint32_t sent, Verdict verdict) {
  Channel& c = channels_[index];
  SendEntry& send = sends_[sent];
  RecvEntry& recv = recvs_[entry];
  const bool windows = send.unrecorded || recv.state == RecvState::unrecorded || races_.contains(index) ||
                       record::concurrent_of(send.ordinal) != 0 || record::concurrent_of(recv.ordinal) != 0;
  if (windows) {
    Races& races = races_[index];
    remember_send(c, races, send, verdict);
    remember_receive(c, races, recv);
  }
  if (verdict == Verdict::exact) emit(c, send, recv);
  if (verdict == Verdict::ambiguous) ++counts_.ambiguous;
  std::uint64_t count = 1;
  if (verdict == Verdict::neither && recv.state == RecvState::unrecorded) count = std::min(send.bytes, recv.bytes);
  if (verdict == Verdict::half) ++counts_.half_recorded;
  if (verdict == Verdict::neither) counts_.unrecorded += count;
  const bool more_sends = send.unrecorded && send.bytes > count;
  const bool more_receives = recv.state == RecvState::unrecorded && recv.bytes > count;
  if (more_sends) {
    send.bytes -= count;
    unrecorded_sends_ -= count;
  }
  if (more_receives) {
    recv.bytes -= count;
    unrecorded_receives_ -= count;
  }
  if (!more_sends) take_send_out(c, no_index, sent);
  if (more_receives) return;
  pop_front(c);
  give_receive(entry);
}

// A cluster goes on while numbers lie below its end; then it is complete, and all its sends are taken.
void Matcher::remember_send(const Channel& c, Races& races, const SendEntry& send, Verdict verdict) {
  const std::uint64_t number = number_of(send.ordinal);
  const bool first = number >= races.send_end;
  const Rank& r = ranks_[c.source];
  const std::uint64_t last = window_end(send.ordinal, send.end, r.next_send, r.latest_send_begin);
  const std::uint64_t end = send.unrecorded ? send.end : last == unknown ? r.next_send : last + 1;
  if (first) races.cancellable = false;
  races.send_thread = first || races.send_thread == send.thread ? send.thread : many_threads;
  races.send_end = std::max(races.send_end, end);
  const bool may_be_another = verdict == Verdict::ambiguous || verdict == Verdict::half;
  if (may_be_another && !send.unrecorded && can_be_cancelled(send)) races.cancellable = true;
}

void Matcher::remember_receive(const Channel& c, Races& races, const RecvEntry& recv) {
  const std::uint64_t number = number_of(recv.ordinal);
  const bool first = number >= races.recv_end;
  const Rank& r = ranks_[c.destination];
  const std::uint64_t last = window_end(recv.ordinal, recv.end, r.next_recv, r.latest_recv_begin);
  const std::uint64_t end = recv.state == RecvState::unrecorded ? recv.wait : last == unknown ? r.next_recv : last + 1;
  races.recv_thread = first || races.recv_thread == recv.thread ? recv.thread : many_threads;
  races.recv_end = std::max(races.recv_end, end);
}

// MPI_Cancel of a send that is paired already. Of an exact pair it fails. In a cluster another send may have been taken
// in its place: if it turns out to have been cancelled, one of the cluster's sends that are left is gone.
void Matcher::cancel_of_paired(std::uint32_t index, const Event& e) {
  Channel& c = channels_[index];
  const auto found = races_.find(index);
  if (e.kind == EventKind::send_cancel_request) {
    if (found != races_.end()) ++found->second.cancelling;
    return;
  }
  if (found != races_.end() && found->second.cancelling > 0) --found->second.cancelling;
  if (e.kind != EventKind::send_cancelled) return;
  if (sends_in_doubt(c) || (found == races_.end() && receives_in_doubt(c))) return ambiguous_send_cancelled(c);
  if (found == races_.end() || !found->second.cancellable || c.send_head == no_index) {
    c.sends_ambiguous = true;  // something is missing here
    return;
  }
  SendEntry& first = sends_[c.send_head];
  if (first.held) ++found->second.cancelling;
  if (first.unrecorded && first.bytes > 1) {
    --first.bytes;
    --unrecorded_sends_;
  } else {
    take_send_out(c, no_index, c.send_head);
  }
}

// A channel that holds nothing: can anything still come that its record concerns?
bool Matcher::may_forget(std::uint32_t index) const {
  const auto found = races_.find(index);
  if (found == races_.end()) return true;
  const Channel& c = channels_[index];
  const Rank &source = ranks_[c.source], &destination = ranks_[c.destination];
  return found->second.cancelling == 0 && source.next_send >= found->second.send_end &&
         destination.next_recv >= found->second.recv_end && destination.wildcards.open() == 0;
}

}  // namespace pclscope
