#include "analysis/match/matcher.hpp"

#include <algorithm>

namespace pclscope {

using record::Event;
using record::EventKind;
namespace flag = record::flag;

namespace {
constexpr std::uint64_t pattern_of(std::int32_t source, std::int32_t tag) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(source)) << 32 | static_cast<std::uint32_t>(tag);
}
constexpr std::int32_t pattern_source(std::uint64_t pattern) { return static_cast<std::int32_t>(pattern >> 32); }
constexpr std::int32_t pattern_tag(std::uint64_t pattern) { return static_cast<std::int32_t>(pattern); }
// A truncated receive failed, but it took its message.
constexpr bool failed(const Event& e) { return e.flags & flag::failed && !(e.flags & flag::truncated); }

}  // namespace

bool Matcher::is_posting(const Event& e) {
  switch (e.kind) {
    case EventKind::send:
    case EventKind::recv_post:
      return true;
    case EventKind::recv_done:
      return !(e.flags & flag::posted);
    case EventKind::recv_cancelled:
      return e.flags & flag::failed && !(e.flags & flag::posted);
    default:
      return false;
  }
}

Matcher::Matcher(std::int32_t ranks, Sink sink) : sink_(std::move(sink)), ranks_(std::max(ranks, 0)) {
  batch_.reserve(256);
}

void Matcher::set_node(std::int32_t rank, std::int32_t node) {
  if (is_rank(rank)) ranks_[rank].node = node;
}

void Matcher::note_read(Rank& r, std::uint32_t thread, std::uint64_t until) {
  constexpr std::uint32_t thread_limit = 1024;
  thread = std::min(thread, thread_limit);
  if (r.read_until_of_thread.size() <= thread) r.read_until_of_thread.resize(thread + 1);
  std::uint64_t& of_thread = r.read_until_of_thread[thread];
  of_thread = std::max(of_thread, until);
  r.read_until = *std::min_element(r.read_until_of_thread.begin(), r.read_until_of_thread.end());
}

void Matcher::add(std::int32_t rank, std::uint32_t thread, std::span<const Event> events) {
  if (!is_rank(rank) || events.empty()) return;
  Rank& r = ranks_[rank];
  note_read(r, thread, events.back().end);  // calls of a thread do not overlap: what follows began after this
  for (const Event& e : events) {
    switch (e.kind) {
      case EventKind::send:
        if (e.ordinal == r.next_send && r.parked_sends.empty()) [[likely]] {
          ++r.next_send;
          take_send(rank, r, e);
        } else {
          take_out_of_turn(rank, r, e, true);
        }
        break;
      case EventKind::recv_post:
        if (e.ordinal == r.next_recv && r.parked_recvs.empty()) [[likely]] {
          ++r.next_recv;
          take_post(rank, r, e);
        } else {
          take_out_of_turn(rank, r, e, false);
        }
        break;
      case EventKind::recv_done:
        if (e.flags & flag::posted && e.ordinal < r.next_recv) [[likely]] {
          take_completion(rank, r, e);
        } else if (e.ordinal == r.next_recv && r.parked_recvs.empty() && !(e.flags & flag::posted)) {
          ++r.next_recv;
          take_blocking_receive(rank, r, e);
        } else {
          take_out_of_turn(rank, r, e, false);
        }
        break;
      case EventKind::recv_cancelled:
      case EventKind::recv_freed:
        if (is_posting(e) && e.ordinal == r.next_recv && r.parked_recvs.empty())
          ++r.next_recv;  // MPI refused it: nothing was posted
        else
          e.ordinal < r.next_recv ? take_removal(rank, r, e) : take_out_of_turn(rank, r, e, false);
        break;
      case EventKind::send_cancel_request:
      case EventKind::send_cancelled:
      case EventKind::send_not_cancelled:
        e.ordinal < r.next_send ? take_send_cancel(rank, e) : take_out_of_turn(rank, r, e, true);
        break;
      case EventKind::lost:
        lose(rank);
        break;
      default:
        break;
    }
  }
}

void Matcher::take_event(std::int32_t rank, Rank& r, const Event& e) {
  switch (e.kind) {
    case EventKind::send:
      return take_send(rank, r, e);
    case EventKind::recv_post:
      return take_post(rank, r, e);
    case EventKind::recv_done:
      return e.flags & flag::posted ? take_completion(rank, r, e) : take_blocking_receive(rank, r, e);
    case EventKind::recv_cancelled:
    case EventKind::recv_freed:
      return take_removal(rank, r, e);
    default:
      return take_send_cancel(rank, e);
  }
}

std::uint32_t Matcher::channel(std::uint64_t comm, std::int32_t source, std::int32_t destination, std::int32_t tag) {
  bool made;
  const std::uint32_t index = channels_.find_or_make(comm, source, destination, tag, made);
  Channel& c = channels_[index];
  c.used = true;
  if (made && !poisons_.empty())
    for (const Poison& p : poisons_)
      if (p.covers(c)) c.ambiguous_from = std::min(c.ambiguous_from, p.from);
  return index;
}

void Matcher::mark_dirty(std::uint32_t index) {
  Channel& c = channels_[index];
  if (c.dirty) return;
  c.dirty = true;
  dirty_.push_back(index);
}

void Matcher::take_send(std::int32_t rank, Rank& r, const Event& e) {
  if (e.peer == record::proc_null) return;
  if (!is_rank(e.peer) || e.flags & flag::foreign) {
    if (!(e.flags & flag::failed)) ++counts_.foreign;
    return;
  }
  const std::uint32_t index = channel(e.comm, rank, e.peer, e.tag);
  Channel& c = channels_[index];
  // Nobody knows whether a failed send became a message: what follows on the channel is not certain.
  if (e.flags & (flag::failed | flag::unordered)) c.sends_ambiguous = true;
  if (e.flags & flag::failed) return mark_dirty(index);
  if (r.lossy || c.sends_ambiguous) {
    mark_dirty(index);
    return ambiguous_send(c);
  }
  const std::uint32_t entry = sends_.take();
  SendEntry& s = sends_[entry];
  s = {e.ordinal, e.begin, e.end, e.site, e.bytes, e.flags, no_index, false};
  if (c.send_head == no_index)
    c.send_head = entry;
  else
    sends_[c.send_tail].next = entry;
  c.send_tail = entry;
  if (c.recv_head != no_index || c.late != no_index || receives_in_doubt(c)) mark_dirty(index);
}

std::uint32_t Matcher::new_receive(const Event& e, RecvState state) {
  const std::uint32_t entry = recvs_.take();
  recvs_[entry] = {e.ordinal, e.begin,  e.begin,  e.end,  e.site, e.bytes,
                   no_index,  no_index, no_index, round_, state,  (e.flags & flag::truncated) != 0};
  return entry;
}

void Matcher::take_post(std::int32_t rank, Rank& r, const Event& e) {
  if (e.peer == record::proc_null || r.lossy || e.flags & (flag::failed | flag::foreign)) return;
  const bool wildcard =
      !(e.flags & flag::matched_probe) && (e.peer == record::any_source || e.tag == record::any_tag);
  if (wildcard && (e.peer == record::any_source || is_rank(e.peer))) {
    if (e.flags & flag::unordered) return poison(rank, e.comm, e.peer, e.tag, e.ordinal);
    const std::uint32_t entry = new_receive(e, RecvState::wildcard);
    recvs_[entry].wait = pattern_of(e.peer, e.tag);
    recvs_[entry].bytes = e.comm;
    r.posted.insert(e.ordinal, entry);
    r.wildcards.post(e.comm, e.peer, e.tag, e.ordinal, entry);
    return;
  }
  if (!is_rank(e.peer)) return;
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  if (e.flags & flag::unordered) poison(rank, e.comm, e.peer, e.tag, e.ordinal);
  Channel& c = channels_[index];
  if (r.lossy || e.ordinal >= c.ambiguous_from) return;  // its completion will be counted
  const std::uint32_t entry = new_receive(e, RecvState::posted);
  recvs_[entry].channel = index;
  r.posted.insert(e.ordinal, entry);
  append(c, entry);
}

void Matcher::take_blocking_receive(std::int32_t rank, Rank& r, const Event& e) {
  if (e.peer == record::proc_null) return;
  if (failed(e)) {
    // Whether it took a message is unknown.
    if (is_rank(e.peer) || e.peer == record::any_source) poison(rank, e.comm, e.peer, e.tag, e.ordinal);
    return;
  }
  if (!is_rank(e.peer) || e.flags & flag::foreign) {
    ++counts_.foreign;
    return;
  }
  if (e.flags & flag::unordered) poison(rank, e.comm, e.peer, e.tag, e.ordinal);
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  Channel& c = channels_[index];
  mark_dirty(index);
  if (r.lossy || e.ordinal >= c.ambiguous_from) return ambiguous_receive(c);
  const std::uint32_t entry = new_receive(e, RecvState::completed);
  recvs_[entry].channel = index;
  append(c, entry);
}

void Matcher::take_completion(std::int32_t rank, Rank& r, const Event& e) {
  if (e.peer == record::proc_null) return;
  const std::uint32_t entry = r.posted.take(e.ordinal);
  if (!is_rank(e.peer) || e.flags & flag::foreign || failed(e)) {
    if (!failed(e)) ++counts_.foreign;
    if (entry == no_index) return;
    // It took a message of an unknown channel, or of none: as if its request had been freed.
    RecvEntry& recv = recvs_[entry];
    const bool wildcard = recv.state == RecvState::wildcard;
    const std::uint64_t pattern = recv.wait;
    if (wildcard)
      resolve_wildcard(rank, r, entry);
    else
      unlink(channels_[recv.channel], entry), mark_dirty(recv.channel);
    if (failed(e)) {
      const Channel place = wildcard ? Channel{} : channels_[recvs_[entry].channel];
      poison(rank, e.comm, wildcard ? pattern_source(pattern) : place.source,
             wildcard ? pattern_tag(pattern) : place.tag, e.ordinal);
    }
    recvs_.give(entry);
    return;
  }
  if (entry == no_index) {
    const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
    Channel& c = channels_[index];
    mark_dirty(index);
    if (!receives_in_doubt(c)) cut_receives(index, r, e.ordinal, false);  // its post was never seen
    return ambiguous_receive(c);
  }
  RecvEntry& recv = recvs_[entry];
  const bool wildcard = recv.state == RecvState::wildcard;
  if (wildcard) resolve_wildcard(rank, r, entry);
  recv.wait = e.begin;
  recv.end = e.end;
  recv.bytes = e.bytes;
  recv.round = round_;
  recv.state = RecvState::completed;
  recv.truncated = (e.flags & flag::truncated) != 0;
  if (!wildcard) return mark_dirty(recv.channel);
  const std::uint32_t index = channel(e.comm, e.peer, rank, e.tag);
  recv.channel = index;
  mark_dirty(index);
  if (recv.ordinal >= channels_[index].ambiguous_from) {
    recvs_.give(entry);
    return ambiguous_receive(channels_[index]);
  }
  insert(index, entry);
}

// Takes the receive out of the unresolved ones and wakes the channels that waited for it.
void Matcher::resolve_wildcard(std::int32_t, Rank& r, std::uint32_t entry) {
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

void Matcher::take_removal(std::int32_t rank, Rank& r, const Event& e) {
  const std::uint32_t entry = r.posted.take(e.ordinal);
  if (entry == no_index) return;  // to MPI_PROC_NULL, foreign, or in doubt anyway
  RecvEntry& recv = recvs_[entry];
  if (recv.state == RecvState::wildcard) {
    const std::uint64_t pattern = recv.wait, comm = recv.bytes;
    resolve_wildcard(rank, r, entry);
    recvs_.give(entry);
    if (e.kind == EventKind::recv_freed) poison(rank, comm, pattern_source(pattern), pattern_tag(pattern), e.ordinal);
    return;
  }
  mark_dirty(recv.channel);
  if (e.kind == EventKind::recv_freed) {
    recv.wait = e.begin;
    recv.end = e.end;
    recv.bytes = ~0ull;
    recv.round = round_;
    recv.state = RecvState::freed;
    return;
  }
  unlink(channels_[recv.channel], entry);
  recvs_.give(entry);
}

void Matcher::take_send_cancel(std::int32_t rank, const Event& e) {
  if (!is_rank(e.peer)) return;
  const std::uint32_t index = channel(e.comm, rank, e.peer, e.tag);
  Channel& c = channels_[index];
  std::uint32_t before = no_index, at = c.send_head;
  while (at != no_index && sends_[at].ordinal != e.ordinal) {
    before = at;
    at = sends_[at].next;
  }
  mark_dirty(index);
  if (at == no_index) {
    // Paired already: then it was received, and the cancel must fail. Else something is missing here.
    if (e.kind == EventKind::send_cancelled && !sends_in_doubt(c)) c.sends_ambiguous = true;
    return;
  }
  sends_[at].held = e.kind == EventKind::send_cancel_request;
  if (e.kind != EventKind::send_cancelled) return;
  (before == no_index ? c.send_head : sends_[before].next) = sends_[at].next;
  if (c.send_tail == at) c.send_tail = before;
  sends_.give(at);
}

}  // namespace pclscope
