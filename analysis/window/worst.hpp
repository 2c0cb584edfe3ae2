// The worst messages: of the newest windows while the job runs, of the whole job when it is over.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

class WorstMessages {
 public:
  // Keeps `count` messages per window, of windows that ended within the last `memory_ns`.
  WorstMessages(std::uint32_t count, std::int64_t memory_ns) : count_(count), memory_(memory_ns) {}

  // A message of the open window.
  void add(const Message& message, double ratio) {
    if (ratio <= threshold_) return;
    offer(window_, message, ratio);
    if (window_.size() >= count_) threshold_ = window_.front().ratio;
  }
  // Calls take(message, ratio) for those of the open window, in no order.
  template <class Take>
  void of_window(Take&& take) const {
    for (const Entry& e : window_) take(e.message, e.ratio);
  }
  void close_window(std::int64_t end_ns);

  std::vector<WorstMessage> recent() const;
  std::vector<WorstMessage> overall() const;

 private:
  struct Entry {
    double ratio;
    Message message;
  };
  using Heap = std::vector<Entry>;  // least ratio in front
  void offer(Heap& heap, const Message& message, double ratio) const;
  static bool less_bad(const Entry& a, const Entry& b) { return a.ratio > b.ratio; }
  static std::vector<WorstMessage> sorted(Heap heap);

  std::uint32_t count_;
  std::int64_t memory_;
  double threshold_ = 0;
  Heap window_, overall_;
  std::deque<std::pair<std::int64_t, Heap>> recent_;  // by end of the window
};

}  // namespace pclscope
