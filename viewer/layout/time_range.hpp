// From when to when, on the run's time axis. A value.
#pragma once

namespace pclscope::layout {

struct TimeRange {
  double begin_s = 0;  // seconds since the time origin
  double end_s = 0;
  double length_s() const { return end_s - begin_s; }
  bool operator==(const TimeRange&) const = default;
};

}  // namespace pclscope::layout
