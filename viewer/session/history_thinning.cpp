#include "viewer/session/history_thinning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace pclscope::session {
namespace {

std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
  return a > std::numeric_limits<std::uint32_t>::max() - b ? std::numeric_limits<std::uint32_t>::max() : a + b;
}

// One point for two neighbours.
HistoryPoint merged(const HistoryPoint& a, const HistoryPoint& b) {
  HistoryPoint both = a;
  const double n = static_cast<double>(a.messages) + static_cast<double>(b.messages);
  both.length_s = static_cast<float>(b.end_s() - a.begin_s);
  both.ratio =
      static_cast<float>((static_cast<double>(a.ratio) * a.messages + static_cast<double>(b.ratio) * b.messages) / n);
  both.messages = sum(a.messages, b.messages);
  both.delayed = sum(a.delayed, b.delayed);
  return both;
}

// Calls emit(point) with what stays, in order.
template <class Emit>
void walk(const RegionHistory& history, Thinning level, double until_s, Emit&& emit) {
  const auto& points = history.points;
  std::size_t i = 0, period = 0;
  while (i < points.size() && points[i].end_s() <= until_s) {
    if (level == Thinning::drop) {
      ++i;
      continue;
    }
    // The period that holds the point, or the gap before it.
    const auto middle = [&](std::size_t k) { return points[k].begin_s + static_cast<double>(points[k].length_s) / 2; };
    while (period < history.periods.size() && history.periods[period].end_s <= middle(i)) ++period;
    const bool inside = period < history.periods.size() && history.periods[period].begin_s <= middle(i);
    const bool whole = inside && history.periods[period].kind != PeriodKind::other && level == Thinning::calm;
    const double calm_end_s = period == history.periods.size() ? std::numeric_limits<double>::infinity()
                              : inside                         ? history.periods[period].end_s
                                                               : history.periods[period].begin_s;
    const std::size_t first = i;
    while (i < points.size() && points[i].end_s() <= until_s && (i == first || middle(i) < calm_end_s)) ++i;
    if (whole || i - first <= 3) {
      for (std::size_t k = first; k < i; ++k) emit(points[k]);
      continue;
    }
    HistoryPoint between = points[first + 1];
    for (std::size_t k = first + 2; k + 1 < i; ++k) between = merged(between, points[k]);
    emit(points[first]);
    emit(between);
    emit(points[i - 1]);
  }
  for (; i < points.size(); ++i) emit(points[i]);
}

}  // namespace

std::size_t bytes_when_thinned(const RegionHistory& history, Thinning level, double until_s) {
  std::size_t count = 0, periods = history.periods.size();
  walk(history, level, until_s, [&](const HistoryPoint&) { ++count; });
  if (level == Thinning::drop) {
    periods = static_cast<std::size_t>(std::count_if(history.periods.begin(), history.periods.end(),
                                                     [&](const Period& p) { return p.end_s > until_s; }));
  }
  return count * (sizeof(HistoryPoint) + 1) + periods * (sizeof(Period) + 4);
}

bool thin(RegionHistory& history, Thinning level, double until_s) {
  decltype(history.points) points;
  walk(history, level, until_s, [&](const HistoryPoint& p) { points.push_back(p); });
  const bool less = points.size() < history.points.size();
  if (less) history.points = std::move(points);
  if (level != Thinning::drop) return less;
  decltype(history.periods) periods;
  for (const Period& p : history.periods) {
    if (p.end_s > until_s) periods.push_back(p);
  }
  if (periods.size() < history.periods.size()) history.periods = std::move(periods);
  return less;
}

}  // namespace pclscope::session
