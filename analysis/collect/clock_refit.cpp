#include "analysis/collect/clock_refit.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::collect {
namespace {

constexpr std::size_t neighbours = 16;

ClockCorrection seen_from_around(const std::vector<ClockRecord>& records, std::size_t which,
                                 const ClockLimits& limits) {
  const ClockRecord& own = records[which];
  const std::size_t first = which > neighbours ? which - neighbours : 0;
  const std::size_t last = std::min(records.size() - 1, which + neighbours);
  double least = -HUGE_VAL, most = HUGE_VAL, weights = 0, sum = 0;  // relative to the own offset
  for (std::size_t i = first; i <= last; ++i) {
    const nodes::ClockUpdate there = moved_to(records[i].update, own.update.at_ns, limits);
    const double offset = there.offset_ns - own.update.offset_ns;
    least = std::max(least, offset - there.error_ns);
    most = std::min(most, offset + there.error_ns);
    const double weight = 1 / ((there.error_ns + 1) * (there.error_ns + 1));
    weights += weight;
    sum += weight * offset;
  }
  ClockCorrection point{own.update.at_ns, own.update.offset_ns, own.update.offset_ns - own.applied_ns,
                        own.update.error_ns};
  if (least > most) return point;  // the clock did what the limits exclude: its own estimate stands alone
  const double shift = std::clamp(sum / weights, least, most);
  point.offset_ns += shift;
  point.correction_ns += shift;
  point.error_ns = std::max(most - shift, shift - least);
  return point;
}

}  // namespace

RefittedClock::RefittedClock(std::vector<ClockCorrection> points, ClockLimits limits)
    : points_(std::move(points)), limits_(limits) {}

// The point before local_ns that has one behind it, if there are two at all.
std::size_t RefittedClock::segment(std::int64_t local_ns) const {
  const auto after = std::upper_bound(points_.begin(), points_.end(), local_ns,
                                      [](std::int64_t t, const ClockCorrection& point) { return t < point.at_ns; });
  const auto index = static_cast<std::size_t>(after - points_.begin());
  const std::size_t before = index > 0 ? index - 1 : 0;
  return points_.size() >= 2 ? std::min(before, points_.size() - 2) : 0;
}

double RefittedClock::offset_ns(std::int64_t local_ns) const {
  if (points_.empty()) return 0;
  const std::size_t i = segment(local_ns);
  if (points_.size() < 2) return points_[i].offset_ns;
  const ClockCorrection &a = points_[i], &b = points_[i + 1];
  const double along =
      (static_cast<double>(local_ns) - static_cast<double>(a.at_ns)) / static_cast<double>(b.at_ns - a.at_ns);
  return a.offset_ns + (b.offset_ns - a.offset_ns) * along;
}

double RefittedClock::error_ns(std::int64_t local_ns) const {
  if (points_.empty()) return 1e18;
  const std::size_t i = segment(local_ns);
  const ClockCorrection& a = points_[i];
  const auto distance = [&](const ClockCorrection& p) {
    return std::abs(static_cast<double>(local_ns) - static_cast<double>(p.at_ns));
  };
  if (points_.size() < 2) return a.error_ns + limits_.max_drift * distance(a);
  const ClockCorrection& b = points_[i + 1];
  const double gap = static_cast<double>(b.at_ns - a.at_ns), gap_s = gap / 1e9;
  const double slope = std::abs(b.offset_ns - a.offset_ns) / gap;
  const bool inside = local_ns >= a.at_ns && local_ns <= b.at_ns;
  const ClockCorrection& near = distance(a) < distance(b) ? a : b;
  const double by_drift = near.error_ns + (limits_.max_drift + slope) * distance(near);
  if (!inside) return by_drift;
  const double along = distance(a) / gap;
  return std::min(by_drift,
                  a.error_ns * (1 - along) + b.error_ns * along + limits_.max_wander / 8 * gap_s * gap_s * 1e9);
}

RefittedClock refit(std::span<const ClockRecord> records, std::size_t most_points, ClockLimits limits) {
  std::vector<ClockRecord> sound;
  for (const ClockRecord& record : records)
    if (believable(record.update) && std::isfinite(record.applied_ns) &&
        (sound.empty() || record.update.at_ns > sound.back().update.at_ns))
      sound.push_back(record);
  std::vector<ClockCorrection> points;
  const std::size_t count = std::min(sound.size(), std::max<std::size_t>(most_points, 2));
  for (std::size_t k = 0; k < count; ++k)
    points.push_back(seen_from_around(sound, count < 2 ? 0 : k * (sound.size() - 1) / (count - 1), limits));
  return RefittedClock(std::move(points), limits);
}

namespace {

// Of points that rise in time those between which the others lie on straight lines, give or take `off_ns`. What is left
// out leaves its error bar to the points around it.
std::vector<ClockCorrection> straightened(const std::vector<ClockCorrection>& points, double off_ns) {
  std::vector<ClockCorrection> kept{points.front()};
  double lowest = -HUGE_VAL, highest = HUGE_VAL, between = 0;  // slopes that pass all points since the last kept one
  for (std::size_t i = 1; i < points.size(); ++i) {
    const auto slope_to = [&](const ClockCorrection& point, double aside) {
      return (point.correction_ns + aside - kept.back().correction_ns) /
             static_cast<double>(point.at_ns - kept.back().at_ns);
    };
    const double straight = slope_to(points[i], 0);
    if (i > 1 && (straight < lowest || straight > highest)) {
      kept.back().error_ns = std::max(kept.back().error_ns, between);
      kept.push_back(points[i - 1]);
      kept.back().error_ns = std::max(kept.back().error_ns, between);
      lowest = -HUGE_VAL, highest = HUGE_VAL, between = 0;
    }
    lowest = std::max(lowest, slope_to(points[i], -off_ns));
    highest = std::min(highest, slope_to(points[i], off_ns));
    between = std::max(between, points[i].error_ns);
  }
  kept.back().error_ns = std::max(kept.back().error_ns, between);
  if (kept.back().at_ns < points.back().at_ns) {
    kept.push_back(points.back());
    kept.back().error_ns = std::max(kept.back().error_ns, between);
  }
  for (ClockCorrection& point : kept) point.error_ns += off_ns;
  return kept;
}

}  // namespace

std::vector<ClockCorrection> corrections(const RefittedClock& final, const GlobalClock& applied, std::size_t most) {
  if (final.points().empty()) return {};
  constexpr std::int64_t beyond_ns = 60'000'000'000;
  std::vector<std::int64_t> times = applied.bends();
  for (const ClockCorrection& point : final.points()) times.push_back(point.at_ns);
  std::sort(times.begin(), times.end());
  times.insert(times.begin(), times.front() - beyond_ns);
  times.push_back(times.back() + beyond_ns);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<ClockCorrection> points;
  for (const std::int64_t t : times) {
    const double offset = final.offset_ns(t), applied_ns = static_cast<double>(applied.to_global(t) - t);
    points.push_back({t, offset, offset - applied_ns, final.error_ns(t)});
  }
  // Between two of them the clock may wander off the straight line between their error bars.
  for (std::size_t i = 1; i + 2 < points.size(); ++i) {
    const double gap_s = static_cast<double>(points[i + 1].at_ns - points[i].at_ns) / 1e9;
    const double wander = final.limits().max_wander / 8 * gap_s * gap_s * 1e9;
    points[i].error_ns += wander;
    points[i + 1].error_ns += wander;
  }
  double off_ns = 100;
  std::vector<ClockCorrection> kept = straightened(points, off_ns);
  while (kept.size() > std::max<std::size_t>(most, 2)) kept = straightened(points, off_ns *= 4);
  return kept;
}

}  // namespace pclscope::collect
