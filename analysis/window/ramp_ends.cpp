#include "analysis/window/ramp_ends.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pclscope {

namespace {

constexpr std::size_t search = 6, surroundings = 16;

struct Stretch {
  std::size_t begin, end;  // of the windows that are looked at
  bool falls_after;
};

Stretch surroundings_of(std::span<const double> level, double deviation, std::size_t foot, std::size_t top) {
  const double slack = std::max(0.05, deviation);
  Stretch s{foot, top + 1, false};
  while (s.begin > 0 && foot - s.begin < surroundings && std::fabs(level[s.begin - 1] - level[foot]) <= slack) --s.begin;
  while (s.end < level.size() && s.end - top <= surroundings && std::fabs(level[s.end] - level[top]) <= slack) ++s.end;
  s.falls_after = s.end < level.size() && s.end == top + 1;
  return s;
}

// Residual of the best base and height for a given foot and top.
double cost(std::span<const double> y, std::span<const double> w, std::size_t foot, std::size_t top) {
  double s0 = 0, s1 = 0, s11 = 0, t0 = 0, t1 = 0, tt = 0;
  const double scale = 1 / static_cast<double>(top - foot);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double r = i <= foot ? 0 : i >= top ? 1 : static_cast<double>(i - foot) * scale;
    const double wr = w[i] * r;
    s0 += w[i];
    s1 += wr;
    s11 += wr * r;
    t0 += w[i] * y[i];
    t1 += wr * y[i];
    tt += w[i] * y[i] * y[i];
  }
  const double d = s0 * s11 - s1 * s1;
  if (d <= 0) return tt;
  const double height = (s0 * t1 - s1 * t0) / d, base = (t0 - height * s1) / s0;
  return tt - base * t0 - height * t1;
}

struct Best {
  RampEnds ends;
  double cost = INFINITY;
};

Best search_ends(std::span<const double> y, std::span<const double> w, std::size_t foot, std::size_t top,
                 bool fixed_top) {
  Best best;
  const auto back = [](std::size_t from) { return from > search ? from - search : 0; };
  const std::size_t last_foot = std::min(foot + search, y.size() - 1);
  const std::size_t first_top = fixed_top ? top : back(top), last_top = fixed_top ? top : std::min(top + search, y.size() - 1);
  for (std::size_t a = back(foot); a <= last_foot; ++a)
    for (std::size_t e = std::max(a + 1, first_top); e <= last_top; ++e)
      if (const double c = cost(y, w, a, e); c < best.cost) best = {{a, e}, c};
  return best;
}

}  // namespace

RampEnds ramp_ends(std::span<const double> value, std::span<const double> weight, std::span<const double> level,
                   double deviation, std::size_t foot, std::size_t top) {
  const Stretch s = surroundings_of(level, deviation, foot, top);
  if (s.end - s.begin < 4) return {foot, top};
  const double zero = level[foot];
  std::vector<double> logs, plain, w, w_plain;
  for (std::size_t i = s.begin; i < s.end; ++i) {
    // One outlier must not move an end.
    const double y = std::clamp(value[i], level[i] - 3 * deviation, level[i] + 3 * deviation) - zero;
    const double fitted = std::clamp(level[i] - zero, -30.0, 30.0);
    logs.push_back(y);
    plain.push_back(std::exp(std::clamp(y, -30.0, 30.0)) - 1);
    w.push_back(weight[i]);
    w_plain.push_back(weight[i] * std::exp(-2 * fitted));  // noise is proportional to the level
  }
  const Best in_log = search_ends(logs, w, foot - s.begin, top - s.begin, s.falls_after);
  const Best in_plain = search_ends(plain, w_plain, foot - s.begin, top - s.begin, s.falls_after);
  const RampEnds best = in_plain.cost <= in_log.cost ? in_plain.ends : in_log.ends;
  if (!(std::min(in_plain.cost, in_log.cost) < INFINITY)) return {foot, top};
  return {best.foot + s.begin, best.top + s.begin};
}

}  // namespace pclscope
