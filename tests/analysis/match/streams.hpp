// Hand-written event streams: time is 10 ticks per event.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/record/event.hpp"

namespace pclscope::test {

class Stream {
 public:
  using Event = record::Event;
  using Kind = record::EventKind;

  Stream& send(int to, int tag, std::uint32_t flags = 0, std::uint64_t bytes = 8) {
    return put(Kind::send, sends_++, to, tag, flags, bytes);
  }
  // Posts and returns the ordinal in `last`.
  Stream& post(int source, int tag, std::uint32_t flags = record::flag::nonblocking) {
    return put(Kind::recv_post, last = receives_++, source, tag, flags);
  }
  Stream& done(std::uint64_t ordinal, int source, int tag, std::uint64_t bytes = 8) {
    return put(Kind::recv_done, ordinal, source, tag, record::flag::posted, bytes);
  }
  Stream& receive(int source, int tag, std::uint32_t flags = 0) {
    return put(Kind::recv_done, receives_++, source, tag, flags);
  }
  Stream& other(Kind kind, std::uint64_t ordinal = 0, int peer = 0, int tag = 0, std::uint32_t flags = 0) {
    return put(kind, ordinal, peer, tag, flags);
  }
  Stream& skip_send() { return ++sends_, *this; }
  Stream& skip_receive() { return ++receives_, *this; }

  std::vector<Event> events;
  std::uint64_t last = 0;
  std::uint64_t comm = 1;
  std::uint64_t now = 100;

 private:
  Stream& put(Kind kind, std::uint64_t ordinal, int peer, int tag, std::uint32_t flags, std::uint64_t bytes = 8) {
    Event e{};
    e.begin = now;
    e.end = now + 5;
    now += 10;
    e.site = ++id_;
    e.comm = comm;
    e.bytes = bytes;
    e.ordinal = ordinal;
    e.peer = peer;
    e.tag = tag;
    e.kind = kind;
    e.flags = flags;
    events.push_back(e);
    return *this;
  }
  std::uint64_t sends_ = 0, receives_ = 0, id_ = 0;
};

}  // namespace pclscope::test
