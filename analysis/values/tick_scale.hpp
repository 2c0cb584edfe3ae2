// From clock ticks of the recording processes to nanoseconds since the job's time origin.
#pragma once

#include <cstdint>

namespace pclscope {

struct TickScale {
  std::uint64_t origin_ticks = 0;
  double ns_per_tick = 1.0;
  std::int64_t to_ns(std::uint64_t ticks) const {
    return static_cast<std::int64_t>(static_cast<double>(static_cast<std::int64_t>(ticks - origin_ticks)) *
                                     ns_per_tick);
  }
  std::uint64_t to_ticks(std::int64_t ns) const {  // 0 for what was before the clock began
    const double ticks = static_cast<double>(origin_ticks) + static_cast<double>(ns) / ns_per_tick;
    return ticks > 0 ? static_cast<std::uint64_t>(ticks) : 0;
  }
};

}  // namespace pclscope
