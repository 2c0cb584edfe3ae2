// When the worker is too far behind its ranks: by how many events wait in their rings. Less is analysed before a rank
// has to wait or an event is lost. A value; one thread.
#pragma once

#include <chrono>
#include <cstdint>

#include "analysis/pipeline/load.hpp"

namespace pclscope::aggregator {

class LoadWatch {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::uint64_t much = 1 << 18;  // unread events of all rings: some 30 ms of work
  static constexpr std::uint64_t too_much = 1 << 19;
  static constexpr std::uint64_t of_full_rings = 1 << 16;      // so many when a ring is full: not of the smallest rings
  static constexpr std::chrono::milliseconds persistent{100};  // rings that are full for so long
  static constexpr std::chrono::milliseconds calm{1'000};      // far below for so long: one step back

  // Before a reading. `unread`: events in all rings; `full`: a ring is.
  Load look(Clock::time_point now, std::uint64_t unread, bool full) {
    const bool overflows = full && unread >= of_full_rings;
    if (!overflows) full_since_ = now;
    Load wanted = unread >= much || overflows ? Load::high : Load::ordinary;
    if (unread >= too_much || (overflows && now - full_since_ >= persistent)) wanted = Load::too_high;
    const std::uint64_t limit = load_ == Load::too_high ? too_much : much;
    if (wanted >= load_) {
      load_ = wanted;
      calm_since_ = now;
    } else if (overflows || unread > limit / 4) {
      calm_since_ = now;
    } else if (now - calm_since_ >= calm) {
      load_ = static_cast<Load>(static_cast<std::uint8_t>(load_) - 1);
      calm_since_ = now;
    }
    return load_;
  }

 private:
  Load load_ = Load::ordinary;
  Clock::time_point full_since_{}, calm_since_{};
};

}  // namespace pclscope::aggregator
