// What a record tells of its messages, channel by channel, without any matching: how many sends became messages, and
// how many receives took one. Independent of the matcher; for traces of one node.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>

#include "interpose/record/event.hpp"

namespace pclscope::test {

class Told {
 public:
  // All events of one ring of `rank`.
  void add(int rank, std::span<const record::Event> events) {
    using record::EventKind;
    for (const record::Event& e : events) {
      if (e.peer < 0) continue;
      Sides& channel = channels_[{e.comm, e.tag, rank, e.peer}];
      Sides& taken = channels_[{e.comm, e.tag, e.peer, rank}];
      switch (e.kind) {
        case EventKind::send: ++channel.sends; break;
        case EventKind::unrecorded_sends: channel.sends += e.bytes; break;
        case EventKind::send_cancelled: ++channel.cancelled; break;
        case EventKind::recv_done:
        case EventKind::recv_freed: ++taken.receives; break;  // freed: it will have taken one
        case EventKind::unrecorded_receives: taken.receives += e.bytes; break;
        default: break;
      }
    }
  }

  std::uint64_t sends() const {  // those that were not cancelled, as far as told
    std::uint64_t sum = 0;
    for (const auto& [key, c] : channels_) sum += c.sends - std::min(c.sends, c.cancelled);
    return sum;
  }
  // More messages cannot be: of each channel the larger side.
  std::uint64_t at_most() const {
    std::uint64_t sum = 0;
    for (const auto& [key, c] : channels_) sum += std::max(c.sends, c.receives);
    return sum;
  }

 private:
  struct Sides {
    std::uint64_t sends = 0, cancelled = 0, receives = 0;
  };
  std::map<std::tuple<std::uint64_t, int, int, int>, Sides> channels_;  // communicator, tag, source, destination
};

}  // namespace pclscope::test
