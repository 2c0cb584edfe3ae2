// Latency ratios of many messages by one set of criteria (PCLVis 4.1): L = time / C, and the same of the transfer
// alone. From sums of times per size class, so the criteria may be those of now, whatever they were when a message
// came.
#pragma once

#include <cmath>
#include <cstdint>

namespace pclscope {

struct RatioSums {
  std::uint64_t timed = 0;  // messages with a latency
  double time = 0;          // sum of their ratios
  double transfer = 0;
  double log = 0;  // sum of the natural logarithms of `time`'s ratios

  RatioSums& operator+=(const RatioSums& o) {
    timed += o.timed;
    time += o.time;
    transfer += o.transfer;
    log += o.log;
    return *this;
  }
  double mean_time() const { return timed == 0 ? 0 : time / static_cast<double>(timed); }
  double typical_time() const { return timed == 0 ? 0 : std::exp(log / static_cast<double>(timed)); }
  double mean_transfer() const { return timed == 0 ? 0 : transfer / static_cast<double>(timed); }
};

}  // namespace pclscope
