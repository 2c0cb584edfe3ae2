// Intervals in which something acts: active slices, short breaks between them closed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analysis/attribute/slices.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

struct Interval {
  std::size_t first = 0, last = 0;  // slices, inclusive
  double cost_s = 0;                // over the slices
  double active_s = 0;              // time of those that are active
  double share = 0;                 // of those, of all that tell anything
  double begin_s = 0, end_s = 0;    // the first and the last slice count as far as their cost says
  double seconds() const { return end_s - begin_s; }
};

// `cost`: rank-seconds per slice; `active`: one flag per slice.
std::vector<Interval> intervals_of(const std::vector<Slice>& slices, const std::vector<double>& cost,
                                   const std::vector<char>& active);

// 0 at `low`, 1 at `high`, linear between.
inline double ramp(double value, double low, double high) { return std::clamp((value - low) / (high - low), 0.0, 1.0); }
// How far an interval is from a chance event: some seconds, most of its time, and not one event that lasts (a rank that
// stood still once, a machine that did). `events`: how many of equal cost it is worth, (sum of costs)^2 / sum of
// squares.
double persistence(const Interval& interval, double events = 1e9);
// Period, cost, score of a finding.
void set_period(Finding& finding, const Interval& interval, const std::vector<Slice>& slices, double threads,
                bool finished);
double overlap_s(const Finding& a, const Finding& b);

}  // namespace pclscope::attribute
