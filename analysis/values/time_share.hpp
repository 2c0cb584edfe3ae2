// Lets a costly stage of a live analysis have a share of wall time at most, so that it never holds up the others.
// One thread owns a TimeShare.
#pragma once

#include <algorithm>
#include <chrono>

namespace pclscope {

class TimeShare {
 public:
  using Clock = std::chrono::steady_clock;

  // `share` of 1 or more: no limit. What was not used is good for `saved` seconds of use later.
  explicit TimeShare(double share, double saved = 0.5) : share_(share), saved_(saved) {}

  // May it run now? True until more was used than the share allows.
  bool allows(Clock::time_point now) {
    if (share_ >= 1) return true;
    credit_ = std::min(saved_, credit_ + share_ * std::chrono::duration<double>(now - seen_).count());
    seen_ = now;
    return credit_ > 0;
  }
  void used(Clock::duration time) { credit_ -= std::chrono::duration<double>(time).count(); }

 private:
  double share_, saved_;
  double credit_ = 0;  // seconds
  Clock::time_point seen_{};
};

}  // namespace pclscope
