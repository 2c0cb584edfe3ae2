// A time axis that can leave out what is of no interest: "places" from 0 (left) to 1 (right) for seconds since the time
// origin.
//
// Linear, or compressed as PCLVis 5.1 and its Figure 6: times of interest (growth and steady periods) all keep one
// scale; each longer section between them gets the same narrow width, as room for its start, middle and end. A value.
// Strictly monotone, so that it can be inverted. Threads: any.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "viewer/layout/time_range.hpp"

namespace pclscope::layout {

class TimeAxis {
 public:
  struct Section {
    double begin_s = 0, end_s = 0;  // seconds
    double low = 0, high = 1;       // places
    bool compressed = false;
    double middle_s() const { return (begin_s + end_s) / 2; }
    double scale() const { return (high - low) / (end_s - begin_s); }  // places per second
  };
  // From 0 to 1 s.
  TimeAxis() : TimeAxis(0, 1) {}
  // Linear. Ends that are not finite or not in order are put right.
  TimeAxis(double begin_s, double end_s);
  // `full`: times of interest, in any order, may overlap; without any the axis is linear. `narrow`: width of a
  // compressed section as share of the axis; less when they would take more than `most_narrow` together. What is
  // shorter than that in the scale of the others is not compressed.
  static TimeAxis compressed(double begin_s, double end_s, std::span<const TimeRange> full, double narrow);
  static constexpr double most_narrow = 0.5;

  double begin_s() const { return sections_.front().begin_s; }
  double end_s() const { return sections_.back().end_s; }
  bool linear() const { return sections_.size() == 1; }
  double place(double second) const;                               // clamped to [0, 1]; 0 for NaN
  double second(double place) const;                               // the inverse; clamped to the ends
  std::span<const Section> sections() const { return sections_; }  // ascending, without gaps, never empty
  const Section& at(double second) const;

 private:
  std::vector<Section> sections_;
};

// Round moments for labels on the part of the axis between two places: at least `apart` (places) from each other, none
// in compressed sections, ascending. At most some hundred.
std::vector<double> time_ticks(const TimeAxis& axis, double low, double high, double apart);

}  // namespace pclscope::layout
