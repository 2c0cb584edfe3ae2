// Sums over messages, of a pair of ranks, a region or a window. Plain additions: order does not matter but for the
// rounding of the ratios. Ratios are by the criteria of when the window closed; sums over windows mix several of them,
// so means over the run come from RatioSums.
#pragma once

#include <cmath>
#include <cstdint>

#include "analysis/values/blocked_time.hpp"

namespace pclscope {

struct LatencySums {
  std::uint64_t messages = 0;
  std::uint64_t timed = 0;  // messages with a latency: completion seen, clocks agree
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double ratio = 0;                   // of timed messages, to the criterion
  double transfer_ratio = 0;          // of their transfers, to the criterion of transfers
  double log_ratio = 0;               // of timed messages: natural logarithm of the ratio
  std::int64_t transfer_time_ns = 0;  // of timed messages, whoever was blocked or not: for means
  BlockedTime blocked;                // of calls, each nanosecond once, charged to the awaited message

  LatencySums& operator+=(const LatencySums& o) {
    messages += o.messages;
    timed += o.timed;
    bytes += o.bytes;
    delayed += o.delayed;
    ratio += o.ratio;
    transfer_ratio += o.transfer_ratio;
    log_ratio += o.log_ratio;
    transfer_time_ns += o.transfer_time_ns;
    blocked += o.blocked;
    return *this;
  }
  double mean_ratio() const { return timed == 0 ? 0 : ratio / static_cast<double>(timed); }
  // Geometric mean: what a few outliers, or one class of messages that has them, move little.
  double typical_ratio() const { return timed == 0 ? 0 : std::exp(log_ratio / static_cast<double>(timed)); }
  double mean_transfer_ratio() const { return timed == 0 ? 0 : transfer_ratio / static_cast<double>(timed); }
};

// Of the messages inside one region.
struct RegionSums {
  std::int32_t region = 0;  // id
  LatencySums sums;
};

}  // namespace pclscope
