// Synthetic series of window means for the tests of Evolution.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "analysis/window/evolution.hpp"

namespace pclscope::series {

inline RegionWindow window(double ratio, std::uint64_t messages = 100) {
  RegionWindow w;
  w.messages = messages;
  w.bytes = 8 * messages;
  w.delayed = ratio > 1 ? messages / 2 : 0;
  w.mean_ratio = ratio;
  w.transfer_s = 0.001;
  return w;
}

// Level 1 up to window `foot`, straight up to 1 + height at `top`, level until `end`, then 1 again.
struct Planted {
  int foot, top, end, length;
  double height;
  double at(int t) const {
    if (t <= foot || t > end) return 1;
    return t >= top ? 1 + height : 1 + height * (t - foot) / (top - foot);
  }
};

inline int first_window(const Period& p) { return static_cast<int>(std::lround(p.begin_s)); }
inline int last_window(const Period& p) { return static_cast<int>(std::lround(p.end_s)) - 1; }

inline std::vector<Period> of_kind(const std::vector<Period>& periods, PeriodKind kind) {
  std::vector<Period> found;
  for (const Period& p : periods)
    if (p.kind == kind) found.push_back(p);
  return found;
}

}  // namespace pclscope::series
