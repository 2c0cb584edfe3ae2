// From the recorders' clock ticks to the job's time axis, on one node.
#pragma once

#include <cstdint>

#include "analysis/pipeline.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {

// The recorders' clock now: rdtsc, or ns of CLOCK_MONOTONIC.
std::uint64_t read_ticks(record::ClockSource source);

// Reads the clock that the recorders of this node use. TSC ticks are measured against CLOCK_MONOTONIC_RAW from
// construction on; the scale is settled once by settle(), so that the axis never jumps.
class TickClock {
 public:
  TickClock();
  // Chooses the source and fixes the scale. With the TSC: waits until at least 50 ms have passed since construction,
  // which leaves a relative error of about 1e-6.
  void settle(record::ClockSource source);
  bool settled() const { return settled_; }
  record::ClockSource source() const { return source_; }

  const TickScale& scale() const { return scale_; }
  std::int64_t now_ns() const;  // on the job's time axis
  std::int64_t ticks_to_ns(std::uint64_t ticks) const { return scale_.to_ns(ticks); }
  std::int64_t origin_realtime_ns() const { return origin_realtime_ns_; }
  // CLOCK_REALTIME of a moment on the axis, by the distance from now: free of long-term drift.
  std::int64_t realtime_of(std::int64_t axis_ns) const;

 private:
  record::ClockSource source_ = record::ClockSource::monotonic;
  bool settled_ = false;
  TickScale scale_;
  std::uint64_t start_tsc_ = 0;
  std::int64_t start_raw_ns_ = 0;
  std::uint64_t start_monotonic_ns_ = 0;
  std::int64_t origin_realtime_ns_ = 0;
};

}  // namespace pclscope::collect
