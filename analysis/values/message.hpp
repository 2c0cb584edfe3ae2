// A matched message: a send paired with the receive that took it, on one time axis.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interpose/record/event.hpp"

namespace pclscope {

// Times are nanoseconds since the job's time origin (Snapshot::time_origin_realtime_ns says when that was).
struct Message {
  std::uint64_t comm = 0;   // communicator id
  std::int32_t source = 0;  // ranks in the application's world
  std::int32_t destination = 0;
  std::int32_t tag = 0;
  std::uint32_t flags =
      0;  // record::flag of the send, `truncated` and `first_come` of the receive, plus message_flag below
  std::uint64_t bytes = 0;           // as received when known, else as sent
  std::int64_t send_begin = 0;       // entry of the call that started the send
  std::int64_t send_end = 0;         // return of that call
  std::int64_t recv_post = 0;        // entry of the call that posted the receive
  std::int64_t recv_wait = 0;        // entry of the call that completed it (= recv_post for a blocking receive)
  std::int64_t recv_end = 0;         // return of that call
  std::uint64_t send_site = 0;       // id in the store's /sites, 0 unknown; from the matcher: site_key.hpp
  std::uint64_t recv_site = 0;       // of the call that posted the receive
  std::uint32_t clock_error_ns = 0;  // between nodes: bound of the clocks' error in differences of both sides' times

  std::int64_t time() const { return recv_end - send_begin; }
  bool operator==(const Message&) const = default;
};

namespace message_flag {                                      // high bits: never collide with record::flag
inline constexpr std::uint32_t unseen_completion = 1u << 31;  // receive freed before completion: no latency
inline constexpr std::uint32_t inter_node = 1u << 30;
inline constexpr std::uint32_t clock_violation = 1u << 29;   // recv_end < send_begin, by more than clock_error_ns
inline constexpr std::uint32_t clock_unclear = 1u << 27;     // recv_end < send_begin, by no more than clock_error_ns
inline constexpr std::uint32_t delayed = 1u << 28;           // time / criterion > 1
inline constexpr std::uint32_t sendrecv_send = 1u << 26;     // sent by a MPI_Sendrecv, which also received something
inline constexpr std::uint32_t sendrecv_receive = 1u << 25;  // received by a MPI_Sendrecv, which also sent something
inline constexpr std::uint32_t received_alone = 1u << 24;    // until its window closes: its call completed no other
inline constexpr std::uint32_t no_latency = unseen_completion | clock_violation | clock_unclear;
}  // namespace message_flag

// Is the call that started the send over when the message's buffer may be used again? It may have been blocked then.
constexpr bool blocks_sender(std::uint32_t flags) {
  return !(flags & (record::flag::nonblocking | record::flag::persistent | record::flag::buffered));
}

// The two sides of a message, whether or not anybody was blocked (that is BlockedSpan, and of calls: CallWaits).
// late_sender lies before the send; late_receiver + transfer = time(). Its transfer is the transfer time of the ratios.
struct WaitSplit {
  std::int64_t late_sender = 0;    // max(0, send_begin - recv_wait): the receiver already waited
  std::int64_t late_receiver = 0;  // the part of time() before the receive was posted
  std::int64_t transfer = 0;       // the rest of time()
};

// late_receiver + transfer == time(), also when the clocks disagree (then transfer is negative: see clock_violation).
inline WaitSplit wait_split(const Message& m) {
  const std::int64_t time = m.time(), before_post = m.recv_post - m.send_begin;
  WaitSplit split;
  split.late_sender = m.send_begin > m.recv_wait ? m.send_begin - m.recv_wait : 0;
  split.late_receiver = std::min(std::max<std::int64_t>(before_post, 0), std::max<std::int64_t>(time, 0));
  split.transfer = time - split.late_receiver;
  return split;
}

// Who was blocked during a message's span, as far as this message tells: late_receiver + transfer + overlapped =
// time(). Of several receives that one call completed each has its own; sums are made by CallWaits. Zero without a
// latency.
struct BlockedSpan {
  std::int64_t late_sender = 0;    // before the span: the receiver was blocked, the send had not begun
  std::int64_t late_receiver = 0;  // the sender was blocked, the receive was not posted
  std::int64_t transfer = 0;       // exposed: afterwards, one of them at least was blocked
  std::int64_t overlapped = 0;     // nobody was blocked
};

inline BlockedSpan blocked_span(const Message& m) {
  BlockedSpan span;
  const std::int64_t time = m.time();
  if (m.flags & message_flag::no_latency || time < 0) return span;
  const std::int64_t wait = std::min(m.recv_wait, m.recv_end);
  span.late_sender = std::clamp(m.send_begin, wait, m.recv_end) - wait;
  const std::int64_t received_from = std::max(wait, m.send_begin);  // the receiver is blocked from here
  span.transfer = m.recv_end - received_from;
  if (blocks_sender(m.flags)) {
    const std::int64_t returned = std::clamp(m.send_end, m.send_begin, m.recv_end);
    const std::int64_t posted = std::clamp(m.recv_post, m.send_begin, returned);
    span.late_receiver = std::min(posted, received_from) - m.send_begin;
    const std::int64_t until = std::min(returned, received_from);
    if (until > posted) span.transfer += until - posted;
  }
  span.overlapped = time - span.late_receiver - span.transfer;
  return span;
}

}  // namespace pclscope
