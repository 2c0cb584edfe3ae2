// The short way of things from where they were to where they are now, so that the eye can follow them. Counted in time,
// not in frames.
#pragma once

#include <algorithm>

namespace pclscope::gui {

class Glide {
 public:
  void start() { left_s_ = length_s; }
  void stop() { left_s_ = 0; }
  void advance(float frame_s) { left_s_ = frame_s >= 0 ? std::max(0.f, left_s_ - frame_s) : 0; }
  bool active() const { return left_s_ > 0; }
  // Of the way: 1 at first, 0 at the end, slow at both.
  float left() const {
    const float share = left_s_ / length_s;
    return share * share * (3 - 2 * share);
  }

 private:
  static constexpr float length_s = 0.3f;
  float left_s_ = 0;
};

}  // namespace pclscope::gui
