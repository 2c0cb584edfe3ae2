#include "analysis/window/ramp_ends.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace pclscope {

namespace {

constexpr std::size_t search = 6, surroundings = 16;

struct Range {
  std::size_t first, last;  // inclusive
};

// What is looked at, and where the ends may lie.
struct Task {
  std::size_t begin, end;
  Range foot, top;
};

Task task_of(const FittedRamp& fit, std::size_t foot, std::size_t top) {
  const double slack = std::max(0.05, fit.deviation);
  const auto& level = fit.level;
  Task t{foot, top + 1, {foot, foot}, {top, top}};
  while (t.begin > 0 && foot - t.begin < surroundings && std::fabs(level[t.begin - 1] - level[foot]) <= slack)
    --t.begin;
  while (t.end < level.size() && t.end - top <= surroundings && std::fabs(level[t.end] - level[top]) <= slack) ++t.end;
  const bool falls_after = t.end < level.size() && t.end == top + 1;
  while (t.foot.last + 1 < top && !fit.begins[t.foot.last + 1]) ++t.foot.last;
  while (t.top.first > foot + 1 && !fit.begins[t.top.first]) --t.top.first;
  t.foot.first = std::max(t.begin, foot - std::min(foot, search));
  t.foot.last = std::min(std::max(t.foot.last, foot + search), t.end - 1);
  t.top.first = std::max(t.begin, std::min(t.top.first, top - std::min(top, search)));
  t.top.last = falls_after ? top : std::min(top + search, t.end - 1);
  return t;
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

// One end after the other over its whole range, then both around the best.
Best search_ends(std::span<const double> y, std::span<const double> w, const Task& task, std::size_t foot,
                 std::size_t top) {
  Best best;
  const auto look = [&](Range feet, Range tops) {
    for (std::size_t a = feet.first; a <= feet.last; ++a)
      for (std::size_t e = std::max(a + 1, tops.first); e <= tops.last; ++e)
        if (const double c = cost(y, w, a - task.begin, e - task.begin); c < best.cost) best = {{a, e}, c};
  };
  const auto around = [](std::size_t at, Range within) {
    return Range{std::max(within.first, at - std::min(at, search)), std::min(within.last, at + search)};
  };
  look({foot, foot}, task.top);
  look(task.foot, {top, top});
  if (best.cost < INFINITY)
    look(task.foot, {best.ends.top, best.ends.top}), look({best.ends.foot, best.ends.foot}, task.top);
  look(around(foot, task.foot), around(top, task.top));
  if (best.cost < INFINITY) look(around(best.ends.foot, task.foot), around(best.ends.top, task.top));
  return best;
}

}  // namespace

RampEnds ramp_ends(const FittedRamp& fit, std::size_t foot, std::size_t top) {
  const Task task = task_of(fit, foot, top);
  if (task.end - task.begin < 4) return {foot, top};
  std::vector<double> logs, plain, w, w_plain;
  for (std::size_t i = task.begin; i < task.end; ++i) {
    // One outlier must not move an end.
    const double level = fit.level[i] - fit.level[foot];
    const double y = std::clamp(fit.value[i] - fit.level[foot], level - 3 * fit.deviation, level + 3 * fit.deviation);
    logs.push_back(y);
    plain.push_back(std::exp(std::clamp(y, -30.0, 30.0)) - 1);
    w.push_back(fit.weight[i]);
    w_plain.push_back(fit.weight[i] *
                      std::exp(-2 * std::clamp(level, -30.0, 30.0)));  // noise is proportional to the level
  }
  const Best in_log = search_ends(logs, w, task, foot, top), in_plain = search_ends(plain, w_plain, task, foot, top);
  const Best& best = in_plain.cost <= in_log.cost ? in_plain : in_log;
  return best.cost < INFINITY ? best.ends : RampEnds{foot, top};
}

}  // namespace pclscope
