// Simulated clocks and round trips between them: the truth is known at any moment.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

#include "analysis/collect/offset_estimator.hpp"

namespace pclscope::collect::simulated {

// What a clock shows at true time t (ns): t + offset + drift t + a sine of the drift.
struct Clock {
  double offset_ns = 0, drift = 0;
  double swing = 0, period_s = 600;  // drift swings by +-swing: its greatest wander is 2 pi swing / period_s
  std::int64_t step_at_ns = INT64_MAX, step_ns = 0;  // set at that true time

  double shift(std::int64_t t) const {
    const double s = static_cast<double>(t) / 1e9, turn = 2 * M_PI / period_s;
    return offset_ns + 1e9 * (drift * s + swing / turn * (1 - std::cos(turn * s))) +
           (t >= step_at_ns ? static_cast<double>(step_ns) : 0);
  }
  std::int64_t at(std::int64_t t) const { return t + static_cast<std::int64_t>(std::floor(shift(t))); }
};

inline Clock random_clock(std::mt19937_64& random, double skew_s, double greatest_wander) {
  std::uniform_real_distribution<double> unit(-1, 1);
  Clock clock;
  clock.offset_ns = 1e9 * skew_s * unit(random);
  clock.drift = 90e-6 * unit(random);
  clock.period_s = 20 * std::pow(200, std::abs(unit(random)));
  clock.swing = std::min(10e-6, greatest_wander * clock.period_s / (2 * M_PI)) * unit(random);
  return clock;
}

// One-way delays (ns): least, plus exponential noise, plus with some probability a heavy tail (scheduling).
struct Network {
  double least_there = 15'000, least_back = 15'000, noise = 3'000;
  double tail_there = 0.1, tail_back = 0.1;  // probability
  double lost = 0;

  double delay(std::mt19937_64& random, double least, double tail) const {
    std::uniform_real_distribution<double> unit(0, 1);
    double delay = least - noise * std::log(1 - unit(random));
    if (unit(random) < tail) delay += 100'000 * std::min(1e4, std::pow(1 - unit(random), -1 / 1.2));  // up to 1 s
    return delay;
  }
  // The round trip that begins at true time t, which moves on to its end. None: lost.
  std::optional<PingSample> trip(std::mt19937_64& random, const Clock& child, const Clock& parent,
                                 std::int64_t& t) const {
    PingSample sample;
    sample.t1 = child.at(t);
    t += static_cast<std::int64_t>(delay(random, least_there, tail_there));
    sample.t2 = parent.at(t);
    t += 2'000;
    sample.t3 = parent.at(t);
    t += static_cast<std::int64_t>(delay(random, least_back, tail_back));
    sample.t4 = child.at(t);
    if (std::uniform_real_distribution<double>(0, 1)(random) < lost) return std::nullopt;
    return sample;
  }
};

// What `there` is ahead of `here` at true time t.
inline double true_offset(const Clock& here, const Clock& there, std::int64_t t) {
  return there.shift(t) - here.shift(t);
}

}  // namespace pclscope::collect::simulated
