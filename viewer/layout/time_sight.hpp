// Which part of a time axis is on the screen, and where its moments are. Zoom, pan, and following the newest.
#pragma once

#include <optional>

#include "viewer/layout/time_axis.hpp"

namespace pclscope::layout {

class TimeSight {
 public:
  // Once per frame: the axis, and where it is drawn (pixels). While it follows, a part in view moves on with the axis'
  // end.
  void set(const TimeAxis& axis, float left, float right);
  float left() const { return left_; }
  float right() const { return right_; }
  float width() const { return right_ - left_; }

  float x(double second) const { return x_of_place(axis_.place(second)); }
  float x_of_place(double place) const;  // pixels; may be far outside
  double place(float x) const;           // of the axis, in [0, 1]
  double second(float x) const { return axis_.second(place(x)); }
  double low() const { return low_; }  // places in view
  double high() const { return high_; }
  double place_per_pixel() const { return (high_ - low_) / static_cast<double>(width()); }

  // By `notches` of a wheel, around pixel `x`.
  void zoom(float x, float notches);
  void pan(float pixels);  // > 0: to earlier times
  void show_all();
  void follow();  // to the newest, as wide as now
  bool following() const { return following_; }
  const std::optional<TimeRange>& part() const { return part_; }  // none: all

 private:
  void look_at(double low, double high);
  TimeAxis axis_;
  float left_ = 0, right_ = 1;
  double low_ = 0, high_ = 1;
  std::optional<TimeRange> part_;  // seconds: it stays when the axis grows
  bool following_ = true;
};

}  // namespace pclscope::layout
