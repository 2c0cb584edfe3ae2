// From the recorders' clock ticks to the job's time axis, on one node.
#pragma once

#include <cstdint>
#include <functional>

#include "analysis/pipeline/pipeline.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::collect {

// The recorders' clock now: rdtsc, or ns of CLOCK_MONOTONIC.
std::uint64_t read_ticks(record::ClockSource source);

// All clocks at one moment.
struct Moment {
  std::uint64_t tsc = 0;
  std::int64_t raw_ns = 0, monotonic_ns = 0, realtime_ns = 0;
};

// What reads them, one by one; tests put their own in place.
struct ClockReader {
  std::function<std::uint64_t()> tsc;
  std::function<std::int64_t(int clock_id)> ns;
};
const ClockReader& system_clocks();

// Between two reads another process may have had the core for milliseconds. So they are read between two reads of
// CLOCK_MONOTONIC_RAW, and of several tries the one counts in which these two lay closest. No clock is off by more than
// their distance; tries end early when it is below a microsecond.
Moment read_moment(const ClockReader& read = system_clocks());

// Reads the clock that the recorders of this node use. TSC ticks are measured against CLOCK_MONOTONIC_RAW from
// construction on; the scale is settled once by settle(), so that the axis never jumps.
class TickClock {
 public:
  explicit TickClock(const ClockReader& read = system_clocks());
  // Chooses the source and fixes the scale. With the TSC: waits until at least 50 ms have passed since construction,
  // which leaves a relative error of about 1e-6. The axis begins at `origin_ticks` of that source, before construction
  // or after; 0: with construction.
  void settle(record::ClockSource source, std::uint64_t origin_ticks = 0);
  bool settled() const { return settled_; }
  // In place of the scale of its own that of another reader of the same clock, and its origin: one axis for both.
  void adopt(record::ClockSource source, const TickScale& scale, std::int64_t origin_realtime_ns);
  record::ClockSource source() const { return source_; }

  const TickScale& scale() const { return scale_; }
  std::int64_t now_ns() const;  // on the job's time axis
  std::int64_t ticks_to_ns(std::uint64_t ticks) const { return scale_.to_ns(ticks); }
  std::int64_t origin_realtime_ns() const { return start_.realtime_ns - start_ns_; }
  // CLOCK_REALTIME of a moment on the axis, by the distance from now: free of long-term drift.
  std::int64_t realtime_of(std::int64_t axis_ns) const;

 private:
  record::ClockSource source_ = record::ClockSource::monotonic;
  bool settled_ = false;
  TickScale scale_;
  const ClockReader* read_;
  Moment start_;
  std::int64_t start_ns_ = 0;  // on the axis
};

}  // namespace pclscope::collect
