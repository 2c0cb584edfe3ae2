// Receives in their turn: posted, completed, taken away.
#include <algorithm>

#include "analysis/match/matcher.hpp"
#include "analysis/values/site_key.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

using record::Event;
using record::EventKind;
using record::Function;
using record::number_of;
namespace flag = record::flag;

namespace {
// A truncated receive failed, but it took its message.
constexpr bool failed(const Event& e) { return e.flags & flag::failed && !(e.flags & flag::truncated); }

constexpr std::uint8_t bits_of(const Event& e) {
  constexpr std::uint32_t known =
      flag::truncated | flag::entered | flag::unrecorded | flag::out_of_order | flag::first_come;
  std::uint8_t bits = is_sendrecv(e.function) ? recv_bit::sendrecv : 0;
  if ((e.flags & known) == 0) [[likely]]
    return bits;
  if (e.flags & flag::truncated) bits |= recv_bit::truncated;
  if (e.flags & flag::entered) bits |= recv_bit::entered;
  if (e.flags & flag::unrecorded) bits |= e.kind == EventKind::recv_post ? recv_bit::unseen_post : recv_bit::unseen_end;
  if (e.flags & flag::out_of_order) bits |= recv_bit::out_of_order;
  if (e.flags & flag::first_come) bits |= recv_bit::first_come;
  return bits;
}

// Of a receive that was posted before.
bool comes_first(const Event& e, std::int32_t posted_source) {
  const auto by = static_cast<Function>(e.function);
  return by == Function::Waitany || by == Function::Waitsome ||
         (posted_source == record::any_source && by != Function::Waitall);
}
}  // namespace

std::uint32_t Matcher::new_receive(const Event& e, RecvState state) {
  const std::uint32_t entry = recvs_.take();
  recvs_[entry] = {e.ordinal, e.begin,  e.begin,     e.end, site_key(e), e.bytes, no_index,
                   no_index,  no_index, read_round_, state, bits_of(e),  thread_};
  return entry;
}

void Matcher::take_post(std::int32_t rank, Rank& r, const Event& e) {
  if (r.several) r.latest_recv_begin = std::max(r.latest_recv_begin, e.begin);
  if (e.flags & flag::matched_probe && r.posted.find(number_of(e.ordinal)) != no_index)
    return take_resolution(rank, r, e);
  if (e.peer == record::proc_null || r.lossy || e.flags & (flag::failed | flag::foreign)) return;
  const std::uint64_t number = number_of(e.ordinal);
  const bool wildcard = !(e.flags & flag::matched_probe) && (e.peer == record::any_source || e.tag == record::any_tag);
  if (e.flags & flag::out_of_order && r.several) r.out_of_place.push_back({e.comm, e.peer, e.tag, number});
  if (wildcard && (e.peer == record::any_source || is_rank(e.peer))) {
    if (e.flags & flag::unordered) return poison(rank, e.comm, e.peer, e.tag, number);
    const std::uint32_t entry = new_receive(e, RecvState::wildcard);
    recvs_[entry].wait = pattern_of(e.peer, e.tag);
    recvs_[entry].bytes = e.comm;
    r.posted.insert(number, entry);
    r.wildcards.post(e.comm, e.peer, e.tag, number, entry);
    return;
  }
  if (!is_rank(e.peer)) return;
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  if (e.flags & flag::unordered) poison(rank, e.comm, e.peer, e.tag, number);
  Channel& c = channels_[index];
  if (r.lossy || number >= c.ambiguous_from) return;  // its completion will be counted
  const std::uint32_t entry = new_receive(e, RecvState::posted);
  if (recvs_[entry].bits != 0 || number != e.ordinal) make_special(index);
  recvs_[entry].channel = index;
  r.posted.insert(number, entry);
  append(c, entry);
}

void Matcher::take_blocking_receive(std::int32_t rank, Rank& r, const Event& e) {
  if (e.peer == record::proc_null) return;
  const std::uint64_t number = number_of(e.ordinal);
  if (failed(e)) {
    // Whether it took a message is unknown.
    if (is_rank(e.peer) || e.peer == record::any_source) poison(rank, e.comm, e.peer, e.tag, number);
    return;
  }
  if (!is_rank(e.peer) || e.flags & flag::foreign) {
    ++counts_.foreign;
    return;
  }
  if (e.flags & flag::unordered) poison(rank, e.comm, e.peer, e.tag, number);
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  Channel& c = channels_[index];
  mark_dirty(index);
  if (r.lossy || number >= c.ambiguous_from) return ambiguous_receives(c);
  const std::uint32_t entry = new_receive(e, RecvState::completed);
  if ((recvs_[entry].bits & ~recv_bit::of_no_turn) != 0 || number != e.ordinal) make_special(index);
  recvs_[entry].channel = index;
  append(c, entry);
}

// A matched probe that was posted when it was entered has found its message; the receive completes later.
void Matcher::take_resolution(std::int32_t rank, Rank& r, const Event& e) {
  const std::uint64_t number = number_of(e.ordinal);
  const std::uint32_t entry = r.posted.find(number);
  if (entry == no_index) return;
  RecvEntry& recv = recvs_[entry];
  recv.ordinal = e.ordinal;
  recv.bits &= static_cast<std::uint8_t>(~recv_bit::entered);
  if (recv.state != RecvState::wildcard) return;
  resolve_wildcard(r, entry);
  recv.state = RecvState::posted;
  const bool known = is_rank(e.peer) && !(e.flags & flag::foreign);
  const std::uint32_t index = known ? channel(e.comm, e.peer, rank, e.tag) : no_index;
  if (!known || number >= channels_[index].ambiguous_from) {  // its completion will be counted
    r.posted.take(number);
    return recvs_.give(entry);
  }
  recv.channel = index;
  make_special(index);
  insert(index, entry);
}

// The message of a completed receive is of an unknown channel, or there is none.
void Matcher::take_unknown_message(std::int32_t rank, Rank& r, const Event& e, std::uint32_t entry) {
  if (!failed(e)) ++counts_.foreign;
  if (entry == no_index) return;
  RecvEntry& recv = recvs_[entry];
  const bool wildcard = recv.state == RecvState::wildcard;
  const std::uint64_t comm = wildcard ? recv.bytes : channels_[recv.channel].comm;
  const std::int32_t source = wildcard ? pattern_source(recv.wait) : channels_[recv.channel].source;
  const std::int32_t tag = wildcard ? pattern_tag(recv.wait) : channels_[recv.channel].tag;
  if (wildcard) {
    resolve_wildcard(r, entry);
    recvs_.give(entry);
  } else {
    withdraw(entry);
  }
  if (failed(e)) poison(rank, comm, source, tag, number_of(e.ordinal));  // as if its request had been freed
}

void Matcher::take_completion(std::int32_t rank, Rank& r, const Event& e, bool alone) {
  if (e.peer == record::proc_null) return;
  const std::uint64_t number = number_of(e.ordinal);
  const std::uint32_t entry = r.posted.take(number);
  if (!is_rank(e.peer) || e.flags & flag::foreign || failed(e)) return take_unknown_message(rank, r, e, entry);
  if (entry == no_index) {
    const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
    Channel& c = channels_[index];
    mark_dirty(index);
    if (!receives_in_doubt(c)) cut_receives(index, r, number, false);  // its post was never seen
    return ambiguous_receives(c);
  }
  RecvEntry& recv = recvs_[entry];
  const bool wildcard = recv.state == RecvState::wildcard;
  const bool first_come = comes_first(e, wildcard ? pattern_source(recv.wait) : e.peer);
  if (wildcard) resolve_wildcard(r, entry);
  const std::uint8_t bits =
      recv.bits | bits_of(e) | (first_come ? recv_bit::first_come : 0) | (alone ? recv_bit::alone : 0);
  if (bits & recv_bit::entered) recv.ordinal = e.ordinal;
  recv.bits = bits & static_cast<std::uint8_t>(~recv_bit::entered);
  recv.wait = e.begin;
  recv.end = e.end;
  recv.bytes = e.bytes;
  recv.round = read_round_;
  recv.state = RecvState::completed;
  const bool special = (recv.bits & ~recv_bit::of_no_turn) != 0 || recv.ordinal != number;
  if (!wildcard) {
    if (special) make_special(recv.channel);
    return mark_dirty(recv.channel);
  }
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  recv.channel = index;
  mark_dirty(index);
  if (number >= channels_[index].ambiguous_from) {
    recvs_.give(entry);
    return ambiguous_receives(channels_[index]);
  }
  if (special) make_special(index);
  insert(index, entry);
}

// Takes the receive out of the unresolved ones and wakes the channels that waited for it.
void Matcher::resolve_wildcard(Rank& r, std::uint32_t entry) {
  RecvEntry& recv = recvs_[entry];
  recv.state = RecvState::completed;
  r.wildcards.resolved(recv.bytes, pattern_source(recv.wait), pattern_tag(recv.wait), recvs_);
  for (std::uint32_t at = recv.channel; at != no_index;) {
    Channel& c = channels_[at];
    const std::uint32_t next = c.next_waiter;
    c.waiting = false;
    c.next_waiter = no_index;
    mark_dirty(at);
    at = next;
  }
  recv.channel = no_index;
}

// A receive that is in its channel took no message. One that joined it late leaves it when its turn comes.
void Matcher::withdraw(std::uint32_t entry) {
  RecvEntry& recv = recvs_[entry];
  mark_dirty(recv.channel);
  Channel& c = channels_[recv.channel];
  const bool late = c.late != no_index && std::any_of(late_[c.late].begin(), late_[c.late].end(),
                                                      [&](const Late& l) { return l.entry == entry; });
  if (late) {
    recv.state = RecvState::gone;
    return make_special(recv.channel);
  }
  unlink(c, entry);
  recvs_.give(entry);
}

void Matcher::take_removal(std::int32_t rank, Rank& r, const Event& e) {
  const std::uint64_t number = number_of(e.ordinal);
  const std::uint32_t entry = r.posted.take(number);
  if (entry == no_index) return;  // to MPI_PROC_NULL, foreign, or in doubt anyway
  RecvEntry& recv = recvs_[entry];
  if (recv.state == RecvState::wildcard) {
    const std::uint64_t pattern = recv.wait, comm = recv.bytes;
    resolve_wildcard(r, entry);
    recvs_.give(entry);
    if (e.kind == EventKind::recv_freed) poison(rank, comm, pattern_source(pattern), pattern_tag(pattern), number);
    return;
  }
  if (e.kind != EventKind::recv_freed) return withdraw(entry);
  mark_dirty(recv.channel);
  recv.wait = e.begin;
  recv.end = e.end;
  recv.bytes = ~0ull;
  recv.round = read_round_;
  recv.state = RecvState::freed;
}

}  // namespace pclscope
