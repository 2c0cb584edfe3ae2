// How long threads were blocked in the calls that completed receives and in blocking sends, each second once however
// many messages a call completed (docs/methods.md, "Blocked time"). Messages in, in any order; blocked time out,
// charged to the message for which the thread was blocked. A call is known by its rank, entry and return.
//
//   calls.add(m)          what m's calls cost, of those that completed nothing else: MPI_Recv, a call whose message is
//                         flagged received_alone (not flagged it is told later), a blocking send
//   calls.close(t, sink)  the others that returned before t are complete: sink(Of, BlockedTime) for what each of them
//                         waited for. A message of such a call that comes later adds nothing: nothing counts twice.
//
// One thread owns a CallWaits. Memory: 64 bytes per call of several messages that is not closed; of those that close()
// leaves (they return later than t), at most `most_left`, others are closed early. 32 bytes per rank.
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

  BlockedTime add(const Message& m) {
    BlockedTime told;
    if (m.flags & message_flag::no_latency) return told;
    add_receive(m, told);
    if (blocks_sender(m.flags)) add_send(m, told);
    return told;
  }

  // A call that waited for the other side of a message: it completed a posted send and waited for the receive, or it
  // probed for the message. One message may have both, each in a call of its own.
  struct Other {
    std::int64_t begin = 0, end = 0;
    std::int64_t awaited = 0;  // when the receive was posted, when the send began
    Of message;
    bool of_send = false;
  };
  void add(const Other& other) {
    if (other.end <= other.begin || other.end < closed_until_) return;
    Call& call = find(other.of_send ? other.message.source : other.message.destination, other.begin, other.end);
    if (!other.of_send) {
      if (other.awaited <= call.sent) return;
      call.sent = other.awaited;
      call.received = other.message;
      return;
    }
    if (call.given == none) {
      call.given = static_cast<std::uint32_t>(given_.size());
      given_.emplace_back();
    }
    if (other.awaited > given_[call.given].posted) given_[call.given] = {other.awaited, other.message};
  }

  template <class Sink>
  void close(std::int64_t until_ns, Sink&& sink) {
    closed_until_ = std::max(closed_until_, until_ns);
    std::size_t left = 0;
    // Charges those of a list that are over, and moves the others to its front.
    const auto close_list = [&](std::vector<Call>& calls) {
      std::size_t stay = 0;
      for (const Call& call : calls) {
        if (call.end < until_ns || left == most_left) {
          charge(call, sink);
        } else {
          Call& stays = calls[stay++] = call;
          ++left;
          if (stays.given != none) {
            left_given_.push_back(given_[stays.given]);
            stays.given = static_cast<std::uint32_t>(left_given_.size() - 1);
          }
        }
      }
      return stay;
    };
    for (const std::int32_t rank : used_) {
      InOrder& of = ranks_[static_cast<std::size_t>(rank)];
      keep(of, close_list(of.calls));
    }
    std::erase_if(used_, [this](std::int32_t rank) { return ranks_[static_cast<std::size_t>(rank)].calls.empty(); });
    if (!others_.empty()) keep_others(close_list(others_));
    open_ = left;
    given_.swap(left_given_);
    left_given_.clear();
  }

  std::size_t open() const { return open_; }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr std::int32_t most_ranks = 1 << 20;  // more than that: a damaged file
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();
  struct Call {
    Call(std::int64_t entry, std::int64_t returned, std::int32_t by) : begin(entry), end(returned), rank(by) {}
    std::int64_t begin, end;
    std::int64_t sent = never;  // begin of the latest of the sends that its receives waited for
    Of received;                // the message of that send
    std::int32_t rank;
    std::uint32_t given = none;  // Sendrecv: index of what it sent
  };
  struct Given {
    std::int64_t posted = never;  // when its receive was posted
    Of message;
  };

  // Its call completed no other message, and sent none.
  static bool is_only(const Message& m) {
    return (m.recv_post == m.recv_wait || m.flags & message_flag::received_alone) &&
           !(m.flags & message_flag::sendrecv_receive);
  }
  // Of a receiver that was in its call from `begin` to `end`.
  static BlockedTime of_receiver(std::int64_t begin, std::int64_t end, std::int64_t sent) {
    const std::int64_t late_sender = std::clamp(sent, begin, end) - begin;
    return {late_sender, 0, end - begin - late_sender, 0};
  }

  void add_receive(const Message& m, BlockedTime& told) {
    if (m.recv_end <= m.recv_wait) return;
    const bool late = m.recv_end < closed_until_;
    if (is_only(m)) {
      if (!late || m.recv_post == m.recv_wait) told = of_receiver(m.recv_wait, m.recv_end, m.send_begin);
      return;
    }
    if (late) return;
    Call& call = find(m.destination, m.recv_wait, m.recv_end);
    // Of two that were sent at the same time the lower sender's: the result does not depend on the order. Which one is
    // later cannot be predicted: no branch.
    const bool later = (m.send_begin > call.sent) | ((m.send_begin == call.sent) & (m.source < call.received.source));
    const Of here = of(m);
    call.sent = later ? m.send_begin : call.sent;
    call.received.source = later ? here.source : call.received.source;
    call.received.destination = here.destination;
    call.received.send_site = later ? here.send_site : call.received.send_site;
    call.received.recv_site = later ? here.recv_site : call.received.recv_site;
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
    Call& call = find(m.source, m.send_begin, m.send_end);
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

  static bool is(const Call& call, std::int64_t begin, std::int64_t end) {
    return call.end == end && call.begin == begin;
  }
  // Makes it when there is none. The reference is valid until the next call.
  Call& find(std::int32_t rank, std::int64_t begin, std::int64_t end) {
    if (static_cast<std::uint32_t>(rank) >= ranks_.size()) [[unlikely]]
      return find_other(rank, begin, end);
    // Messages come channel by channel: mostly it is the rank's next call, or a new one.
    InOrder& of = ranks_[static_cast<std::size_t>(rank)];
    const std::size_t next = of.last + 1;
    if (next < of.calls.size()) {
      if (is(of.calls[next], begin, end)) return of.calls[of.last = next];
    } else if (of.calls.empty() || of.calls.back().end < end) {
      return append(rank, begin, end);
    }
    return search(rank, begin, end);
  }
  Call& append(std::int32_t rank, std::int64_t begin, std::int64_t end);
  Call& search(std::int32_t rank, std::int64_t begin, std::int64_t end);

  // Calls of a rank as they were met, their ends ascending.
  struct InOrder {
    std::vector<Call> calls;
    std::size_t last = 0;  // that was asked for
  };
  static void keep(InOrder& of, std::size_t left);

  // Those that were met after a later one of the rank, in a table.
  struct Slot {
    std::uint32_t call = none;  // index into others_
    std::uint32_t tag = 0;      // of its hash: calls are seldom looked at in vain
  };
  static std::uint64_t hash(std::int32_t rank, std::int64_t end) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(end) + static_cast<std::uint32_t>(rank) * 0xd1b54a32d192ed03ull;
    return key * 0x9e3779b97f4a7c15ull;
  }
  Call& find_other(std::int32_t rank, std::int64_t begin, std::int64_t end);
  void put_into_slots();
  void keep_others(std::size_t left);

  std::vector<InOrder> ranks_;
  std::vector<std::int32_t> used_;  // ranks with calls in order
  std::vector<Call> others_;
  std::vector<Slot> slots_ = std::vector<Slot>(256);  // open addressing, at most half full
  unsigned shift_ = 64 - 8;                           // 64 - log2 of their number
  std::vector<Given> given_, left_given_;             // each of one call; of those that close() leaves, meanwhile
  std::size_t open_ = 0;
  std::int64_t closed_until_ = never;
};

// The same from stored messages, which come nearly in order of time: closes calls as it goes, so that memory stays
// bounded. What was not stored is not blocked time of anybody.
class StoredCallWaits {
 public:
  using Sink = std::function<void(const CallWaits::Of&, const BlockedTime&)>;
  static constexpr std::size_t most_open = 1u << 20;

  explicit StoredCallWaits(Sink sink) : sink_(std::move(sink)) {}
  void add(const Message& m);
  // Before the messages.
  void add(const CallWaits::Other& other) { calls_.add(other); }
  void finish() { calls_.close(std::numeric_limits<std::int64_t>::max(), sink_); }

 private:
  Sink sink_;
  CallWaits calls_;
  std::int64_t oldest_ = std::numeric_limits<std::int64_t>::max();  // end of a call that is open
  std::int64_t newest_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace pclscope
