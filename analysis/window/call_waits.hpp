// How long threads were blocked in the calls that completed receives and in blocking sends, each second once however
// many messages a call completed (docs/methods.md, "Blocked time"). Messages in, in any order; blocked time out,
// charged to the message for which the thread was blocked. A call is known by its rank, entry and return.
//
//   calls.add(m, sink)    what m's calls cost, as far as is known. When m is the one that a call waited for, and not
//   the
//                         one of before, sink(Of, BlockedTime) takes back what was charged to that: less than zero.
//   calls.close(t, sink)  calls that returned before t are complete: sink(Of, BlockedTime) for each MPI_Sendrecv. A
//                         message of such a call that comes later adds nothing, so that nothing counts twice.
//
// One thread owns a CallWaits. Memory: 64 bytes per call that is not closed; of those that close() leaves (they return
// later than t), at most `most_left`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "analysis/values/blocked_time.hpp"
#include "analysis/values/message.hpp"

namespace pclscope {

class CallWaits {
 public:
  static constexpr std::size_t most_left = 1u << 16;

  // The message that is charged.
  struct Of {
    std::int32_t source = 0, destination = 0;
    std::uint32_t send_site = 0, recv_site = 0;  // ids
  };

  static Of of(const Message& m) {
    return {m.source, m.destination, static_cast<std::uint32_t>(m.send_site), static_cast<std::uint32_t>(m.recv_site)};
  }

  template <class Sink>
  BlockedTime add(const Message& m, Sink&& sink) {
    BlockedTime told;
    if (m.flags & message_flag::no_latency) return told;
    add_receive(m, told, sink);
    if (blocks_sender(m.flags)) add_send(m, told);
    return told;
  }

  // For a message that is to be added soon.
  void prefetch(const Message& m) const { __builtin_prefetch(&slots_[hash(m.destination, m.recv_end) >> shift_]); }

  template <class Sink>
  void close(std::int64_t until_ns, Sink&& sink) {
    closed_until_ = std::max(closed_until_, until_ns);
    if (sendrecvs_ == 0 && newest_end_ < until_ns) return keep(0);
    std::size_t left = 0;
    for (const Call& call : calls_) {
      if (call.end < until_ns) {
        if (!call.told) charge(call, sink);
      } else if (left < most_left) {
        Call& stays = calls_[left++] = call;
        if (stays.given != none) {
          left_given_.push_back(given_[stays.given]);
          stays.given = static_cast<std::uint32_t>(left_given_.size() - 1);
        }
      }
    }
    keep(left);
  }

  std::size_t open() const { return calls_.size(); }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  struct Call {
    std::int64_t begin = 0, end = 0;
    std::int64_t sent = never;  // begin of the latest of the sends that its receives waited for
    Of received;                // the message of that send
    std::int32_t rank = 0;
    std::uint32_t given = none;  // Sendrecv: index of what it sent
    bool told = false;           // its time has been told; else it is when the call is closed
  };
  struct Given {
    std::int64_t posted = never;  // when its receive was posted
    Of message;
  };

  // Of a receiver that was in its call from `begin` to `end`.
  static BlockedTime of_receiver(std::int64_t begin, std::int64_t end, std::int64_t sent) {
    const std::int64_t late_sender = std::clamp(sent, begin, end) - begin;
    return {late_sender, 0, end - begin - late_sender, 0};
  }

  template <class Sink>
  void add_receive(const Message& m, BlockedTime& told, Sink&& sink) {
    if (m.recv_end <= m.recv_wait) return;
    const bool sendrecv = (m.flags & message_flag::sendrecv_receive) != 0;
    if (m.recv_post == m.recv_wait && !sendrecv) {  // MPI_Recv: its only receive
      told = of_receiver(m.recv_wait, m.recv_end, m.send_begin);
      return;
    }
    if (m.recv_end < closed_until_) return;
    Call& call = find(m.destination, m.recv_wait, m.recv_end, !sendrecv);
    // Of two that were sent at the same time the lower sender's: the result does not depend on the order.
    if (!(m.send_begin > call.sent || (m.send_begin == call.sent && m.source < call.received.source))) return;
    if (call.told) {
      if (call.sent != never) {
        const BlockedTime before = of_receiver(call.begin, call.end, call.sent);
        sink(call.received, BlockedTime{-before.late_sender, 0, -before.transfer_receiver, 0});
      }
      told = of_receiver(call.begin, call.end, m.send_begin);
    }
    call.sent = m.send_begin;
    call.received = of(m);
  }

  void add_send(const Message& m, BlockedTime& told) {
    if (m.send_end <= m.send_begin) return;
    if (!(m.flags & message_flag::sendrecv_send)) {
      told.late_receiver = std::clamp(m.recv_post, m.send_begin, m.send_end) - m.send_begin;
      told.transfer_sender = m.send_end - m.send_begin - told.late_receiver;
      return;
    }
    // Its receive may have been matched on another node: the call's time counts there.
    if (m.send_end < closed_until_ || m.flags & message_flag::inter_node) return;
    Call& call = find(m.source, m.send_begin, m.send_end, false);
    if (call.told) return;  // a record that contradicts itself
    if (call.given == none) {
      call.given = static_cast<std::uint32_t>(given_.size());
      given_.emplace_back();
    }
    given_[call.given] = {m.recv_post, of(m)};
  }

  template <class Sink>
  void charge(const Call& call, Sink&& sink) const {
    const auto before = [&](std::int64_t moment) { return std::clamp(moment, call.begin, call.end) - call.begin; };
    const std::int64_t late_sender = before(call.sent);
    const std::int64_t late =
        call.given == none ? late_sender : std::max(late_sender, before(given_[call.given].posted));
    const std::int64_t transfer = call.end - call.begin - late;
    const bool receives = call.sent != never;
    if (receives) sink(call.received, BlockedTime{late_sender, 0, transfer, 0});
    if (call.given != none)
      sink(given_[call.given].message, BlockedTime{0, late - late_sender, 0, receives ? 0 : transfer});
  }

  struct Slot {
    std::uint32_t call = none;  // index into calls_
    std::uint32_t tag = 0;      // of its hash: calls are seldom looked at in vain
  };
  static std::uint64_t hash(std::int32_t rank, std::int64_t end) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(end) + static_cast<std::uint32_t>(rank) * 0xd1b54a32d192ed03ull;
    return key * 0x9e3779b97f4a7c15ull;
  }
  bool is(const Slot& slot, std::uint32_t tag, std::int32_t rank, std::int64_t begin, std::int64_t end) const {
    if (slot.tag != tag) return false;
    const Call& call = calls_[slot.call];
    return call.end == end && call.begin == begin && call.rank == rank;
  }
  // Makes it when there is none: `told` is of a new one.
  Call& find(std::int32_t rank, std::int64_t begin, std::int64_t end, bool told) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t hashed = hash(rank, end);
    const auto tag = static_cast<std::uint32_t>(hashed);
    std::size_t at = hashed >> shift_;
    for (; slots_[at].call != none; at = (at + 1) & mask)
      if (is(slots_[at], tag, rank, begin, end)) return calls_[slots_[at].call];
    slots_[at] = {static_cast<std::uint32_t>(calls_.size()), tag};
    return make(rank, begin, end, told);
  }
  Call& make(std::int32_t rank, std::int64_t begin, std::int64_t end, bool told);
  void put_into_slots();
  void keep(std::size_t left);

  std::vector<Call> calls_;
  std::vector<Given> given_, left_given_;             // each of one call; of those that close() leaves, meanwhile
  std::vector<Slot> slots_ = std::vector<Slot>(256);  // open addressing, at most half full
  unsigned shift_ = 64 - 8;                           // 64 - log2 of their number
  std::int64_t closed_until_ = never;
  std::int64_t newest_end_ = never;  // of the calls
  std::size_t sendrecvs_ = 0;        // of them: those that are not told
};

// The same from stored messages, which come nearly in order of time: closes calls as it goes, so that memory stays
// bounded. What was not stored is not blocked time of anybody.
class StoredCallWaits {
 public:
  using Sink = std::function<void(const CallWaits::Of&, const BlockedTime&)>;
  static constexpr std::size_t most_open = 1u << 20;

  explicit StoredCallWaits(Sink sink) : sink_(std::move(sink)) {}
  void add(const Message& m);
  void finish() { calls_.close(std::numeric_limits<std::int64_t>::max(), sink_); }

 private:
  Sink sink_;
  CallWaits calls_;
  std::int64_t oldest_ = std::numeric_limits<std::int64_t>::max();  // end of a call that is open
  std::int64_t newest_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace pclscope
