// The worker's sleep between two readings of the rings. A word of the anchor ends it, and so does the board's bell,
// which a rank rings when its ring fills (interpose/record/bell.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "interpose/record/bell.hpp"

namespace pclscope::aggregator {

class Rest {
 public:
  // `bell` outlives it; null: there is none.
  explicit Rest(record::Bell* bell);
  ~Rest();
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;

  // `descriptor`: ends it when it can be read; -1: none. `filling`: a ring fills already (asked when ranks may ring).
  void sleep(std::chrono::nanoseconds length, int descriptor, const std::function<bool()>& filling);

 private:
  void listen(std::uint32_t seen);  // a thread of its own: nothing waits for a futex and for descriptors at once

  record::Bell* bell_;
  int woken_ = -1;  // eventfd
  std::atomic<bool> over_{false};
  std::thread listener_;
};

}  // namespace pclscope::aggregator
