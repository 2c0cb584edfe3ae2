// How a call is drawn on the call view, and how far the mouse is from it.
#pragma once

#include <cstdint>

namespace pclscope::session {

struct TimelineCall;

// A point where it began or ended; a line from begin to end, as high as it was long; an arch that rises at its begin,
// has its top in the middle, as high as it was long, and comes down at its end (half an ellipse in pixels).
enum class CallShape : std::uint8_t { points, lines, arches };

// Height of an arch over its foot, 0 to 1, at `u`: from -1 (its begin) to 1 (its end); 0 beyond.
double arch_height(double u);

// A place on the picture, and how long its pixels are.
struct CallPoint {
  double at_ns = 0, log2_ns = 0;
  double ns_per_pixel = 1, octaves_per_pixel = 1;
  CallShape shape = CallShape::points;
  double foot_log2_ns = 0;                                       // where arches stand
  double distance(const TimelineCall& call, bool by_end) const;  // pixels, squared
  bool operator==(const CallPoint&) const = default;
};

}  // namespace pclscope::session
