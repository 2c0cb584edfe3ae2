// Calls that waited for the other side of a message without being its send or receive: a Wait, Test ... that completed
// a posted send and had to wait for the receive (late receiver), and a Probe or matched probe that found the message
// (late sender). Joins their events with matched messages. docs/methods.md, "Wait states".
//
// A send is known by its rank and number. A call that ended before the message was matched waits for it here; a message
// that was matched before is looked for among the newest of its sender, which lie in a ring by their numbers.
//
// Owned by one thread. Memory: 64 bytes for each of the newest messages that may be asked for, 512 of a rank and 2^18
// of all (of more than 16,384 ranks 16 of each), and 110 bytes for each of 65,536 calls at most. When there are more
// the oldest go: mostly those of messages that were matched too long ago.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analysis/match/newest_map.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class MessageWaits {
 public:
  // The message that a call waited for; fields as in Message.
  struct Awaited {
    std::int32_t source = 0, destination = 0;
    std::uint64_t send_site = 0, recv_site = 0;
  };
  using Sink = std::function<void(const CollectiveCall& call, const Awaited& message)>;

  explicit MessageWaits(std::int32_t ranks, Sink sink)
      : sink_(std::move(sink)),
        probes_(static_cast<std::size_t>(std::max(ranks, 0))),
        rings_(probes_.size()),
        ring_mask_(std::clamp(std::bit_floor(most_kept / std::max<std::size_t>(probes_.size(), 1)), least_of_rank,
                              most_of_rank) -
                   1) {}

  // Of one thread in the order of its ring: what it probed.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events, TickScale scale);
  // A send_done event of a rank here, or (`away`) elsewhere: Event::site as it stands.
  void completed(std::int32_t rank, const record::Event& event, TickScale scale, bool away);
  // A message that was matched, with the number of its send.
  void matched(const Message& message, std::uint64_t number) {
    if (may_be_waited_for(message)) keep(message, number);
    if (probed_ > 0) look_for_probe(message);
  }
  // Calls that were forgotten before a message came for them.
  std::uint64_t forgotten() const { return probe_calls_.dropped() + completions_.dropped(); }

 private:
  static constexpr std::size_t remembered = 1 << 16;                                         // calls
  static constexpr std::size_t most_kept = 1 << 18, most_of_rank = 512, least_of_rank = 16;  // messages
  struct Call {
    std::int64_t begin = 0, end = 0;
    std::uint64_t site = 0;
    std::uint16_t function = 0;
    bool any_source = false;  // of a probe
  };
  struct Probe {  // the newest of a thread, until it receives
    Call call;
    std::uint64_t comm = 0;
    std::int32_t peer = 0, tag = 0;
    bool open = false;
  };
  using Key = NewestMap<Call>::Key;
  static Key key_of(std::int32_t rank, std::uint64_t number) {
    return (number ^ static_cast<std::uint64_t>(static_cast<std::uint32_t>(rank)) << 44) * 0x9e3779b97f4a7c15u;
  }
  // The same rule as for blocking sends: smaller ones do not wait (record::long_call_bytes).
  static bool may_be_waited_for(const Message& m) {
    namespace flag = record::flag;
    if (!(m.flags & (flag::nonblocking | flag::persistent)) || m.flags & (flag::buffered | flag::partitioned))
      return false;
    return (m.bytes >= record::long_call_bytes || m.flags & flag::synchronous) && !(m.flags & message_flag::no_latency);
  }
  void keep(const Message& m, std::uint64_t number);
  void look_for_probe(const Message& m);
  // What is needed of a message, in a line of the cache.
  struct alignas(64) Kept {
    std::uint64_t number = 0;
    std::uint64_t comm = 0;
    std::uint64_t bytes = 0;
    std::int64_t recv_post = 0;
    Awaited ends{-1, -1, 0, 0};  // of nobody
  };
  static Awaited ends_of(const Message& m) { return {m.source, m.destination, m.send_site, m.recv_site}; }
  void waited_for_receive(const Call& call, const Kept& kept);
  void waited_for_send(const Call& call, const Message& m);

  Sink sink_;
  std::vector<std::vector<Probe>> probes_;      // by rank and thread
  NewestMap<Call> probe_calls_{remembered};     // by rank and begin (ns) of the receive that followed
  NewestMap<Call> completions_{remembered};     // of sends whose messages are not matched yet
  std::vector<std::unique_ptr<Kept[]>> rings_;  // by rank, made for its first message: by number, modulo their size
  std::size_t ring_mask_;
  std::size_t probed_ = 0;  // size of probe_calls_
};

}  // namespace pclscope
