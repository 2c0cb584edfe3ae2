// A matched message: a send paired with the receive that took it, on one time axis.
#pragma once

#include <cstdint>

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
inline constexpr std::uint32_t clock_violation = 1u << 29;  // recv_end < send_begin, by more than clock_error_ns
inline constexpr std::uint32_t clock_unclear = 1u << 27;    // recv_end < send_begin, by no more than clock_error_ns
inline constexpr std::uint32_t delayed = 1u << 28;          // time / criterion > 1
inline constexpr std::uint32_t no_latency = unseen_completion | clock_violation | clock_unclear;
}  // namespace message_flag

// Where a message's span went. late_sender lies before the send; late_receiver + transfer = time().
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
  split.late_receiver = before_post <= 0 || time <= 0 ? 0 : before_post < time ? before_post : time;
  split.transfer = time - split.late_receiver;
  return split;
}

}  // namespace pclscope
