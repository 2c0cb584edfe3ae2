// Re-estimation of one node's clock when its run is over: every moment is seen from before and after.
#pragma once

#include <span>

#include "analysis/collect/global_clock.hpp"

namespace pclscope::collect {

struct ClockCorrection {
  std::int64_t at_ns = 0;    // local axis
  double offset_ns = 0;      // final model: job's axis - local axis
  double correction_ns = 0;  // final - applied: what to add to times on the job's axis that were handed out for at_ns
  double error_ns = 0;       // |error of offset_ns| <= this
};

// Piecewise linear between points that rise in time; before the first and after the last its nearest segment goes on.
class RefittedClock {
 public:
  explicit RefittedClock(std::vector<ClockCorrection> points, ClockLimits limits = {});
  const std::vector<ClockCorrection>& points() const { return points_; }
  double offset_ns(std::int64_t local_ns) const;
  // Between points also what the clock may have wandered: max_wander/8 (distance of the points)^2. 1e18 without points.
  double error_ns(std::int64_t local_ns) const;
  const ClockLimits& limits() const { return limits_; }

 private:
  std::size_t segment(std::int64_t local_ns) const;
  std::vector<ClockCorrection> points_;
  ClockLimits limits_;
};

// `records` ascending (GlobalClock::records()). Each point: the mean of what it and its 16 neighbours on either side
// say of its moment, weighted by 1/error^2, within what all of them leave possible. At most `most_points` points,
// evenly chosen, first and last among them. Records that are not believable or not ascending are left out.
RefittedClock refit(std::span<const ClockRecord> records, std::size_t most_points = 4096, ClockLimits limits = {});

// What to add to times that `applied` handed out, so that they are those of `final`: linear between the points,
// constant beyond them. Points lie where either model bends, and a minute before the first and behind the last of
// those; of more than `most` those go that matter least. The error bars cover what lies between points. Ascending;
// empty when `final` has no points.
std::vector<ClockCorrection> corrections(const RefittedClock& final, const GlobalClock& applied, std::size_t most);

}  // namespace pclscope::collect
