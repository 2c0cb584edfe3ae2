// Time in which a thread was blocked inside a point-to-point call, and by what (docs/methods.md, "Blocked time"). Each
// nanosecond of a call stands in one of the four at most.
#pragma once

#include <cstdint>

namespace pclscope {

struct BlockedTime {                   // ns
  std::int64_t late_sender = 0;        // a receiver was blocked before the awaited send began
  std::int64_t late_receiver = 0;      // a sender was blocked before the receive was posted
  std::int64_t transfer_receiver = 0;  // exposed transfer: a receiver was blocked after the awaited send began
  std::int64_t transfer_sender = 0;    // exposed transfer: a sender was blocked after the receive was posted

  std::int64_t transfer() const { return transfer_receiver + transfer_sender; }
  std::int64_t sum() const { return late_sender + late_receiver + transfer(); }
  BlockedTime& operator+=(const BlockedTime& o) {
    late_sender += o.late_sender;
    late_receiver += o.late_receiver;
    transfer_receiver += o.transfer_receiver;
    transfer_sender += o.transfer_sender;
    return *this;
  }
  BlockedTime& operator-=(const BlockedTime& o) {
    late_sender -= o.late_sender;
    late_receiver -= o.late_receiver;
    transfer_receiver -= o.transfer_receiver;
    transfer_sender -= o.transfer_sender;
    return *this;
  }
  bool operator==(const BlockedTime&) const = default;
};

}  // namespace pclscope
