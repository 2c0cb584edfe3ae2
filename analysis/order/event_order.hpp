// Events of messages and their logical order. A message has two: the send, an event of the source when the call that
// started it was entered, and the receive, an event of the destination when the call that completed it returned.
//
// Program order of a process is its local time. Events with the same position were made by one call (Startall,
// Waitall): nothing recorded tells which came first, so they are simultaneous. Clocks tick in steps (of 10 ns on some
// virtual machines), so a send may be entered at the very moment at which the call before it returned: what that call
// received comes first, unless the call took no time at all (or had it from the rank itself in no time).
//
// Why an order exists: a process's local time rises with real time, whatever the clocks of other nodes say, and a
// send begins before its receive ends. So each step of a chain (message; from a receive to a later send of the same
// process, whose position is larger) goes forward in real time, but for threads within one step of the clock, and no
// chain returns to where it began. In damaged data it may; see logical_order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope {

// Place of an event in its process's program order: four times the local time in nanoseconds, and 1 for receives, 2 for
// sends, 3 for receives that may be later than a send at the same moment.
using Position = std::int64_t;
inline constexpr Position before_everything = INT64_MIN;

// Times beyond +-36 years (damaged) count as those.
inline std::int64_t clamped_time(std::int64_t time_ns) {
  constexpr std::int64_t limit = std::int64_t{1} << 60;
  return std::clamp(time_ns, -limit, limit);
}
// Before all events at or after this moment.
inline Position position_of(std::int64_t time_ns) { return 4 * clamped_time(time_ns); }
// The first moment of which no event is before `position`.
inline std::int64_t moment_from(Position position) { return (position + 2) >> 2; }
inline Position send_position(const Message& m) { return position_of(m.send_begin) + 2; }
inline Position receive_position(const Message& m) {
  const bool took_time = m.recv_wait < m.recv_end && (m.source != m.destination || m.send_begin < m.recv_end);
  return position_of(m.recv_end) + (took_time ? 1 : 3);
}

// A receive whose request was freed has no known end: the message cannot be put in order.
inline bool has_order(const Message& m) { return !(m.flags & message_flag::unseen_completion); }

enum class Side : std::uint8_t { send, receive };

// An event of logical_order: message index and side in one number.
struct EventOfMessage {
  std::uint32_t number = 0;
  std::uint32_t message() const { return number >> 1; }
  Side side() const { return (number & 1) ? Side::receive : Side::send; }
};

struct LogicalOrder {
  // Each event after all that happened before it; of those that may come next, the one with the least local time,
  // then the least rank; simultaneous ones of a process by recv_post (send_end), peer, tag and communicator.
  std::vector<EventOfMessage> events;
  // Indices, ascending: messages left out because their receive would have to come before their send (a cycle).
  std::vector<std::uint32_t> unordered;
};

// At most 2^31 - 1 messages (the rest is ignored), of any ranks. The sequence of events does not depend on the order
// of the messages. O(n log n); where damaged data have very many cycles, messages next to them may be left out too.
LogicalOrder logical_order(std::span<const Message> messages);

}  // namespace pclscope
