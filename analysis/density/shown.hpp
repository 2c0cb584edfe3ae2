// What a snapshot has of a Pyramid: packed, and small while the job runs. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/density/pyramid.hpp"

namespace pclscope::density {

inline constexpr std::size_t live_bytes = 48 << 10;  // packed
inline constexpr std::uint32_t live_slices = 256;    // of time inside
// At the end: a byte per call, within these.
inline constexpr std::size_t least_stored_bytes = 96 << 10, most_stored_bytes = 4 << 20;

class Shown {
 public:
  // `last`: no more will come, it is to be kept. Else it may be as of a moment ago: making it takes 2 % of the time.
  const std::vector<std::uint8_t>& of(const Pyramid& pyramid, std::span<const Pyramid::Running> running, bool last);

 private:
  using Clock = std::chrono::steady_clock;
  std::vector<std::uint8_t> packed_;
  Clock::time_point next_{};
};

}  // namespace pclscope::density
