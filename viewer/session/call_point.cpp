#include "viewer/session/call_point.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/session/single_calls.hpp"

namespace pclscope::session {

double arch_height(double u) { return std::sqrt(std::max(0.0, 1 - u * u)); }

namespace {

// To half an ellipse around 0, `half` wide to both sides and `high`: the shortest of the ways straight up or down,
// straight to the side, and to the middle between where these end. Where it is flat the first is the distance, where it
// is steep the second, at a narrow top the third.
double to_arch(double x, double y, double half, double high) {
  half = std::max(half, 0.5);
  x = std::fabs(x);
  const double u = std::min(x / half, 1.0), over_u = arch_height(u);
  const double up = std::hypot(std::max(x - half, 0.0), y - (high > 0 ? high * over_u : 0));
  if (!(high > 0) || y < 0) return up;
  const double v = std::min(y / high, 1.0), beside_v = arch_height(v);
  const double aside = std::hypot(std::max(y - high, 0.0), x - half * beside_v);
  const double middle_u = u + beside_v, middle_v = v + over_u, length = std::hypot(middle_u, middle_v);  // at least 1
  return std::min({up, aside, std::hypot(x - half * middle_u / length, y - high * middle_v / length)});
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
