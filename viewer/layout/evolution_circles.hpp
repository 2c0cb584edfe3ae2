// Windows of one region as circles and as a curve. Private to evolution_*.cpp.
#pragma once

#include <vector>

#include "viewer/layout/evolution_picture.hpp"

namespace pclscope::layout {

// Points between two moments, each as (first, last) index, last not included.
struct PointRange {
  std::size_t first = 0, last = 0;
};
PointRange points_between(const session::RegionHistory& history, double begin_s, double end_s);

// `slot`: the least width, in places. At full scale, circles stand for equal sections of time: window * 2^k, at
// multiples of that, so that they stay where they are while a job runs; in a compressed section they are its start,
// middle and end. `size` is left 0.
std::vector<EvolutionCircle> evolution_circles(const session::RegionHistory& history, const TimeAxis& axis,
                                               PointRange points, double slot);

// One point per column of this width (places), its ratio the mean over the messages.
std::vector<CurvePoint> evolution_curve(const session::RegionHistory& history, const TimeAxis& axis, PointRange points,
                                        double column);

}  // namespace pclscope::layout
