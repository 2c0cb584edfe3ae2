#include "viewer/session/call_point.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/session/single_calls.hpp"

namespace pclscope::session {

double arch_height(double u) { return std::sqrt(std::max(0.0, 1 - u * u)); }

namespace {

// To half an ellipse around 0, `half` wide to both sides and `high`: the shorter of the ways straight up or down and
// straight to the side. Where it is flat the first is the distance, where it is steep the second.
double to_arch(double x, double y, double half, double high) {
  half = std::max(half, 0.5);
  const double beyond = std::max(std::fabs(x) - half, 0.0);
  const double up = std::hypot(beyond, y - (high > 0 ? high * arch_height(x / half) : 0));
  if (!(high > 0) || y < 0) return up;
  const double above = std::max(y - high, 0.0);
  return std::min(up, std::hypot(above, std::fabs(x) - half * arch_height(y / high)));
}

}  // namespace

double CallPoint::distance(const TimelineCall& call, bool by_end) const {
  const double length = std::log2(static_cast<double>(std::max<std::uint64_t>(duration_of(call), 1)));
  const double begin = (static_cast<double>(call.begin) - at_ns) / ns_per_pixel,
               end = (static_cast<double>(call.end) - at_ns) / ns_per_pixel;
  const double y = (length - log2_ns) / octaves_per_pixel;
  if (shape == CallShape::arches) {
    const double foot = (foot_log2_ns - log2_ns) / octaves_per_pixel;
    const double d = to_arch(-(begin + end) / 2, -foot, (end - begin) / 2, y - foot);
    return d * d;
  }
  const double x = shape == CallShape::lines ? std::max({begin, -end, 0.0}) : by_end ? end : begin;
  return x * x + y * y;
}

}  // namespace pclscope::session
