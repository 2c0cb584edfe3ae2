// Channels at the end of a round: who pairs with whom.
#include <algorithm>

#include "analysis/match/matcher.hpp"

namespace pclscope {

namespace flag = record::flag;

namespace {
constexpr std::uint32_t carried_flags = flag::nonblocking | flag::persistent | flag::synchronous | flag::buffered |
                                        flag::ready | flag::intercomm | message_flag::sendrecv_send;
}  // namespace

void Matcher::append(Channel& c, std::uint32_t entry) {
  recvs_[entry].prev = c.recv_tail;
  recvs_[entry].next = no_index;
  if (c.recv_head == no_index) {
    c.recv_head = entry;
  } else {
    recvs_[c.recv_tail].next = entry;
    recvs_.note_next(c.recv_tail, entry);
  }
  c.recv_tail = entry;
}

// A wildcard joins a channel when it resolves: mostly behind all others, else via the heap.
void Matcher::insert(std::uint32_t index, std::uint32_t entry) {
  Channel& c = channels_[index];
  const std::uint64_t place = place_of(recvs_[entry]);
  if (c.recv_tail == no_index || place_of(recvs_[c.recv_tail]) <= place) return append(c, entry);
  if (c.late == no_index) {
    if (late_free_.empty()) {
      c.late = static_cast<std::uint32_t>(late_.size());
      late_.emplace_back();
    } else {
      c.late = late_free_.back();
      late_free_.pop_back();
    }
  }
  std::vector<Late>& heap = late_[c.late];
  heap.push_back({place, entry});
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

void Matcher::unlink(Channel& c, std::uint32_t entry) {
  const RecvEntry& recv = recvs_[entry];
  (recv.prev == no_index ? c.recv_head : recvs_[recv.prev].next) = recv.next;
  (recv.next == no_index ? c.recv_tail : recvs_[recv.next].prev) = recv.prev;
}

std::uint32_t Matcher::front(const Channel& c) const {
  if (c.late == no_index) return c.recv_head;
  const Late& late = late_[c.late].front();
  return c.recv_head == no_index || late.place < place_of(recvs_[c.recv_head]) ? late.entry : c.recv_head;
}

// Takes the first receive out of the channel; its entry stays in the pool.
void Matcher::pop_front(Channel& c) {
  const std::uint32_t entry = front(c);
  if (entry == c.recv_head) return unlink(c, entry);
  std::vector<Late>& heap = late_[c.late];
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  heap.pop_back();
  if (!heap.empty()) return;
  if (heap.capacity() > 1024) std::vector<Late>().swap(heap);
  late_free_.push_back(c.late);
  c.late = no_index;
}

// Its completion was read in an earlier round, and every ring to its head since.
bool Matcher::settled(const RecvEntry& recv, Drain when) const {
  if (when == Drain::end_of_job) return true;
  if (epochs_) return static_cast<std::int8_t>(round_ - recv.round) > 1;
  const auto before_last = static_cast<std::uint8_t>(round_ - 1);
  return recv.round != round_ && (when == Drain::end_of_round || recv.round != before_last);
}

// May the receive have a send that can be cancelled? Not before a cancel from before its completion would have been
// read.
bool Matcher::certain_pair(const Channel& c, const RecvEntry& recv, Drain when) const {
  if (when == Drain::end_of_job) return true;
  const Rank& source = ranks_[c.source];
  if (recv.state == RecvState::freed) return !owes(source) && later_receive_settled(c, recv, when);
  // A thread that was not seen yet may have cancelled it.
  const bool one_clock = source.node >= 0 && source.node == ranks_[c.destination].node && !source.several;
  return (one_clock && source.read_until > recv.end) || (settled(recv, when) && !owes(source));
}

// A freed receive proves nothing by itself: a send that can still be cancelled may not be its message. It is, once a
// later receive of the channel has completed: messages do not overtake.
bool Matcher::later_receive_settled(const Channel& c, const RecvEntry& recv, Drain when) const {
  const std::uint64_t end = record::number_of(recv.ordinal) + record::concurrent_of(recv.ordinal);
  const auto proves = [&](const RecvEntry& later) {
    return (later.state == RecvState::completed || later.state == RecvState::unrecorded) &&
           record::number_of(later.ordinal) > end && settled(later, when);
  };
  for (std::uint32_t at = c.recv_head; at != no_index; at = recvs_[at].next)
    if (proves(recvs_[at])) return true;
  if (c.late == no_index) return false;
  return std::any_of(late_[c.late].begin(), late_[c.late].end(),
                     [&](const Late& l) { return proves(recvs_[l.entry]); });
}

void Matcher::hang_on(std::uint32_t index, std::uint32_t wildcard) {
  Channel& c = channels_[index];
  if (c.waiting) return;
  c.waiting = true;
  c.next_waiter = recvs_[wildcard].channel;
  recvs_[wildcard].channel = index;
}

void Matcher::drain(std::uint32_t index, Drain when) {
  Channel& c = channels_[index];
  Rank& destination = ranks_[c.destination];
  EntryPool<SendEntry>::Ahead sends_ahead(sends_, c.send_head);
  EntryPool<RecvEntry>::Ahead recvs_ahead(recvs_, c.recv_head);
  for (;;) {
    const std::uint32_t entry = front(c);
    if (entry == no_index) break;
    RecvEntry& recv = recvs_[entry];
    if (recv.state == RecvState::posted) return;
    if (recv.state == RecvState::gone) {
      pop_front(c);
      recvs_.give(entry);
      continue;
    }
    if (destination.wildcards.open() != 0) {
      const std::uint32_t blocker =
          destination.wildcards.blocker(c.comm, c.source, c.tag, record::number_of(recv.ordinal), recvs_);
      if (blocker != no_index) return hang_on(index, blocker);
    }
    if (c.send_head == no_index) {
      if (!sends_in_doubt(c)) return;  // a send marks the channel when it comes
      const std::uint64_t count = recv.state == RecvState::unrecorded ? recv.bytes : 1;
      if (ranks_[c.source].gone && !c.sends_ambiguous && c.ambiguous_surplus <= 0)
        (recv.state == RecvState::unrecorded ? counts_.unrecorded : counts_.half_recorded) += count;
      else ambiguous_receives(c, count);
      pop_front(c);
      give_receive(entry);
      continue;
    }
    const std::uint32_t sent = c.send_head;
    const SendEntry& send = sends_[sent];
    recvs_ahead.step();
    sends_ahead.step();
    if (send.held) return;
    if (c.special) [[unlikely]] {
      const Verdict verdict = judge(index, entry, sent, when);
      if (verdict == Verdict::wait) return;
      if (const char* what = verdict == Verdict::exact ? contradiction_of(c, send, recv) : nullptr) {
        contradict(index, what);
        break;
      }
      pair_special(index, entry, sent, verdict);
      continue;
    }
    if (can_be_cancelled(send) && !certain_pair(c, recv, when)) return mark_dirty(index);
    if (const char* what = contradiction_of(c, send, recv)) [[unlikely]] {
      contradict(index, what);
      break;
    }
    emit(c, send, recv);
    c.send_head = send.next;
    if (c.send_head == no_index) c.send_tail = no_index;
    sends_.give(sent);
    pop_front(c);
    recvs_.give(entry);
  }
  if (c.send_head != no_index && front(c) == no_index && receives_in_doubt(c)) give_up_sends(index);
}

// No certain receive is left for these sends, unless an unresolved wildcard of before the doubt can still claim one.
void Matcher::give_up_sends(std::uint32_t index) {
  Channel& c = channels_[index];
  const std::uint32_t claimer =
      ranks_[c.destination].wildcards.blocker(c.comm, c.source, c.tag, c.ambiguous_from, recvs_);
  if (claimer != no_index) return hang_on(index, claimer);
  while (c.send_head != no_index) {
    const std::uint32_t sent = c.send_head;
    c.send_head = sends_[sent].next;
    ambiguous_sends(c, sends_[sent].unrecorded ? sends_[sent].bytes : 1);
    give_send(sent);
  }
  c.send_tail = no_index;
}

void Matcher::emit(const Channel& c, const SendEntry& send, const RecvEntry& recv) {
  batch_numbers_[batched_] = record::number_of(send.ordinal);
  Message& m = batch_[batched_++];  // every field is set
  m.comm = c.comm;
  m.source = c.source;
  m.destination = c.destination;
  m.tag = c.tag;
  m.flags = send.flags & carried_flags;
  if (recv.state == RecvState::freed) m.flags |= message_flag::unseen_completion;
  if (recv.bits & recv_bit::truncated) m.flags |= flag::truncated;
  if (recv.bits & recv_bit::first_come) m.flags |= flag::first_come;
  if (recv.bits & recv_bit::sendrecv) m.flags |= message_flag::sendrecv_receive;
  if (recv.bits & recv_bit::alone) m.flags |= message_flag::received_alone;
  m.bytes = recv.bytes == ~0ull ? send.bytes : recv.bytes;
  m.send_begin = scale_.to_ns(send.begin);
  m.send_end = scale_.to_ns(send.end);
  // Posted in an interval without events: nobody is to be blamed for a late post.
  m.recv_post = scale_.to_ns(recv.bits & recv_bit::unseen_post ? std::min(recv.post, send.begin) : recv.post);
  m.recv_wait = scale_.to_ns(recv.wait);
  m.recv_end = scale_.to_ns(recv.end);
  m.send_site = send.site;
  m.recv_site = recv.site;
  const Rank& from = ranks_[c.source];
  const bool other_clock = from.away && (from.node < 0 || from.node != ranks_[c.destination].node);
  m.clock_error_ns = other_clock ? send.clock_error + clock_error_ : 0;
  if (batched_ == batch_size) flush_batch();
}

void Matcher::flush_batch() {
  if (batched_ == 0) return;
  counts_.matched += batched_;
  sink_(std::span(batch_).first(std::exchange(batched_, 0)));
}

void Matcher::drain_dirty(Drain when) {
  // dirty_ and draining_ swap roles: draining may mark channels again, for the next time.
  draining_.swap(dirty_);
  for (const std::uint32_t index : draining_) channels_[index].dirty = false;
  for (std::size_t i = 0; i < draining_.size(); ++i) {
    if (i + 1 < draining_.size()) {
      const Channel& next = channels_[draining_[i + 1]];
      sends_.prefetch(next.send_head);
      recvs_.prefetch(next.recv_head);
    }
    drain(draining_[i], when);
  }
  draining_.clear();
  flush_batch();
}

void Matcher::end_round(bool all_read) {
  if (all_read) mark_round();
  drain_dirty(all_read ? Drain::end_of_round : Drain::between_rounds);
  if (all_read) read_round_ = ++round_;
  sweep();
}

void Matcher::sweep() {
  if (!channels_.wants_sweep()) return;
  channels_.sweep([this](std::uint32_t index) {
    if (!may_forget(index)) return true;
    races_.erase(index);
    return false;
  });
}

void Matcher::finish() {
  if (finished_) return;
  finished_ = true;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(ranks_.size()); ++rank)
    if (ranks_[rank].parked > 0 || ranks_[rank].muted || ranks_[rank].dropped > ranks_[rank].told) mark_lossy(rank);
  channels_.for_each([this](std::uint32_t index) { drain(index, Drain::end_of_job); });
  flush_batch();
  counts_.unmatched_sends = counts_.unmatched_receives = 0;
  for (const Rank& r : ranks_) counts_.unmatched_receives += r.wildcards.open();
  channels_.for_each([this](std::uint32_t index) { close_channel(index); });
}

// What is left in a channel when no more events come. A completed receive that still waits behind one of unknown
// fate has a message of the channel, but not one that can be told.
void Matcher::close_channel(std::uint32_t index) {
  Channel& c = channels_[index];
  while (front(c) != no_index) {
    const std::uint32_t entry = front(c);
    const RecvEntry& recv = recvs_[entry];
    const bool unrecorded = recv.state == RecvState::unrecorded;
    const bool took = unrecorded || recv.state == RecvState::completed;
    if (took && c.send_head != no_index) {
      const bool unseen = unrecorded || recv.bits & recv_bit::unseen_end, no_send = sends_[c.send_head].unrecorded;
      const Verdict verdict = unseen && no_send   ? Verdict::neither
                              : unseen || no_send ? Verdict::half
                                                  : Verdict::ambiguous;
      pair_special(index, entry, c.send_head, verdict);
      continue;
    }
    if (recv.state != RecvState::gone) counts_.unmatched_receives += unrecorded ? recv.bytes : 1;
    pop_front(c);
    give_receive(entry);
  }
  std::uint64_t left = 0;
  for (; c.send_head != no_index; c.send_head = sends_[c.send_head].next)
    left += sends_[c.send_head].unrecorded ? sends_[c.send_head].bytes : 1;
  // Some of them are messages of receives that were counted without a send.
  const std::int64_t counted = c.ambiguous_surplus < 0 ? -std::int64_t{c.ambiguous_surplus} : 0;
  counts_.unmatched_sends += left - std::min(left, static_cast<std::uint64_t>(counted));
}

MatchCounts Matcher::counts() const {
  MatchCounts counts = counts_;
  if (finished_) return counts;
  counts.unmatched_sends = sends_.in_use() + unrecorded_sends_;
  counts.unmatched_receives = recvs_.in_use() + unrecorded_receives_;
  return counts;
}

}  // namespace pclscope
