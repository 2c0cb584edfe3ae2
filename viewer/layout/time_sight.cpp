#include "viewer/layout/time_sight.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr double zoom_per_notch = 1.2;
constexpr double least_part = 1e-5;  // of the axis
constexpr double at_the_end = 0.01;  // of what is in view: so near counts as the end
constexpr float farthest = 1e5f;     // pixels: what is beyond is not seen anyway

}  // namespace

void TimeSight::set(const TimeAxis& axis, float left, float right) {
  axis_ = axis;
  left_ = left;
  right_ = std::max(right, left + 1);
  low_ = 0;
  high_ = 1;
  if (!part_) return;
  if (following_) {
    const double length = part_->end_s - part_->begin_s;
    part_ = {axis_.end_s() - length, axis_.end_s()};
  }
  low_ = axis_.place(part_->begin_s);
  high_ = axis_.place(part_->end_s);
  if (high_ - low_ >= least_part) return;
  high_ = std::min(1.0, low_ + least_part);
  low_ = high_ - least_part;
}

float TimeSight::x_of_place(double place) const {
  const double share = (place - low_) / (high_ - low_);
  return static_cast<float>(std::clamp(static_cast<double>(left_) + share * static_cast<double>(width()),
                                       static_cast<double>(-farthest), static_cast<double>(farthest)));
}

double TimeSight::place(float x) const {
  const double share = static_cast<double>(x - left_) / static_cast<double>(width());
  const double place = low_ + share * (high_ - low_);
  return std::isfinite(place) ? std::clamp(place, 0.0, 1.0) : 0;
}

void TimeSight::look_at(double low, double high) {
  const double width = std::clamp(high - low, least_part, 1.0);
  low_ = std::clamp(low, 0.0, 1 - width);
  high_ = low_ + width;
  if (width >= 1 - 1e-9) return show_all();
  following_ = high_ >= 1 - at_the_end * width;
  part_ = {axis_.second(low_), axis_.second(high_)};
}

void TimeSight::zoom(float x, float notches) {
  if (notches == 0 || !std::isfinite(notches)) return;
  const double at = place(x), factor = std::pow(zoom_per_notch, -static_cast<double>(std::clamp(notches, -50.f, 50.f)));
  look_at(at - (at - low_) * factor, at + (high_ - at) * factor);
}

void TimeSight::pan(float pixels) {
  if (!part_ || pixels == 0 || !std::isfinite(pixels)) return;
  const double by = std::clamp(-static_cast<double>(pixels) * place_per_pixel(), -low_, 1 - high_);
  look_at(low_ + by, high_ + by);
}

void TimeSight::show_all() {
  part_.reset();
  following_ = true;
  low_ = 0;
  high_ = 1;
}

void TimeSight::follow() { following_ = true; }

}  // namespace pclscope::layout
