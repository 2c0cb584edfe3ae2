// How long the worker may rest between two readings of the rings: so long that at the highest rate seen of late none is
// more than an eighth full then. A value; one thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>

namespace pclscope::aggregator {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  // Before a reading: the part of the fullest ring that is unread.
  void reading(Clock::time_point begin, double fullest) {
    if (read_ == Clock::time_point{}) return;
    const double s = std::max(std::chrono::duration<double>(begin - read_).count(), burst_s);
    rate_ = std::max(fullest / s, rate_ * std::exp2(-s / half_life_s));
  }
  // After it.
  void has_read(Clock::time_point end) { read_ = end; }
  std::chrono::nanoseconds rest(std::chrono::nanoseconds most) const {
    const double s = rate_ > 0 ? wanted / rate_ : 1;
    return std::clamp<std::chrono::nanoseconds>(std::chrono::nanoseconds(static_cast<long>(std::min(s, 1.0) * 1e9)),
                                                least, std::max(most, least));
  }

  static constexpr double wanted = 1.0 / 8;
  static constexpr std::chrono::nanoseconds least{100'000};

 private:
  static constexpr double half_life_s = 0.5;
  // Messages of a step come in bursts: what a shorter time brought is no rate. Who fills its ring rings.
  static constexpr double burst_s = 1e-3;
  double rate_ = 0;  // rings per second
  Clock::time_point read_{};
};

}  // namespace pclscope::aggregator
