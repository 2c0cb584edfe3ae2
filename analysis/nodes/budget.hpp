// What the aggregators may send beyond what exactness needs: raw messages. A node's traffic in all is to stay below 2 %
// of the application's message bytes or 1 MB/s, whichever is larger; raw messages have what sends and reports leave of
// it. One thread. Times: ns on any one axis.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pclscope::nodes {

class TrafficBudget {
 public:
  static constexpr double share = 0.02;  // of the application's message bytes
  static constexpr double always = 1e6;  // bytes per second
  static constexpr double saved_s = 2;   // what was not used is good for that long

  // The root takes no more than so much of each node. `near`: it is on the same machine, nothing goes over a network.
  explicit TrafficBudget(std::uint64_t bytes_per_s, bool near = false) : near_(near) { set_limit(bytes_per_s); }
  void set_limit(std::uint64_t bytes_per_s) {
    if (limit_ == 0) raw_ = static_cast<double>(bytes_per_s);
    limit_ = static_cast<double>(bytes_per_s);
  }
  // `message_bytes`: of the application, on this node, so far.
  void advance(std::int64_t now_ns, std::uint64_t message_bytes) {
    if (seen_ns_ == INT64_MIN) {
      seen_ns_ = now_ns;
      seen_bytes_ = message_bytes;
      credit_ = always * saved_s / 2;
      return;
    }
    const double seconds = std::max(static_cast<double>(now_ns - seen_ns_) * 1e-9, 0.0);
    const double rate = std::max(always * seconds, share * static_cast<double>(message_bytes - seen_bytes_));
    credit_ = std::min(credit_ + rate, std::max(always * saved_s, rate));
    raw_ = std::min(raw_ + limit_ * seconds, limit_ * saved_s);
    seen_ns_ = now_ns;
    seen_bytes_ = message_bytes;
  }
  void used(std::uint64_t bytes) { credit_ -= static_cast<double>(bytes); }
  // True, and it counts as used, when raw messages may have so many bytes more.
  bool raw(std::uint64_t bytes) {
    const auto size = static_cast<double>(bytes);
    if ((size > credit_ && !near_) || size > raw_) return false;
    credit_ -= size;
    raw_ -= size;
    return true;
  }

  // The same of what must not take the place of messages: only while more than half of what can be saved is there.
  bool spare(std::uint64_t bytes) {
    if ((credit_ < always * saved_s / 2 && !near_) || raw_ < limit_ * saved_s / 2) return false;
    return raw(bytes);
  }

 private:
  bool near_;
  double limit_ = 0, credit_ = 0, raw_ = 0;
  std::int64_t seen_ns_ = INT64_MIN;
  std::uint64_t seen_bytes_ = 0;
};

}  // namespace pclscope::nodes
