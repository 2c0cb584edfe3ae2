#include "viewer/layout/time_axis.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr double farthest_s = 1e12;  // beyond, doubles cannot tell windows apart
constexpr double shortest_s = 1e-6;  // of an axis
constexpr std::size_t most_ticks = 200;

double sane(double second, double otherwise) {
  return std::isfinite(second) ? std::clamp(second, -farthest_s, farthest_s) : otherwise;
}

// In order, clipped to [begin, end], joined where they touch.
std::vector<TimeRange> joined(double begin_s, double end_s, std::span<const TimeRange> full) {
  std::vector<TimeRange> sorted;
  for (TimeRange i : full) {
    i = {std::max(begin_s, i.begin_s), std::min(end_s, i.end_s)};
    if (i.end_s > i.begin_s)
      sorted.push_back(i);  // not for NaN: max and min have chosen the other one, or it fails here
  }
  std::sort(sorted.begin(), sorted.end(), [](const TimeRange& a, const TimeRange& b) { return a.begin_s < b.begin_s; });
  std::vector<TimeRange> result;
  for (const TimeRange& i : sorted) {
    if (!result.empty() && i.begin_s <= result.back().end_s + shortest_s)
      result.back().end_s = std::max(result.back().end_s, i.end_s);
    else result.push_back(i);
  }
  return result;
}

// Full and compressed sections by turns; no places yet.
std::vector<TimeAxis::Section> by_turns(double begin_s, double end_s, std::span<const TimeRange> full) {
  std::vector<TimeAxis::Section> sections;
  double until = begin_s;
  for (const TimeRange& i : full) {
    if (i.begin_s > until + shortest_s) sections.push_back({until, i.begin_s, 0, 0, true});
    else if (!sections.empty()) sections.back().end_s = i.begin_s;
    sections.push_back({sections.empty() ? begin_s : sections.back().end_s, i.end_s, 0, 0, false});
    until = i.end_s;
  }
  if (end_s > until + shortest_s) sections.push_back({until, end_s, 0, 0, true});
  else sections.back().end_s = end_s;
  return sections;
}

// The width of compressed sections; those that would be no longer at full scale are marked as full until none is left.
double narrow_width(std::vector<TimeAxis::Section>& sections, double narrow) {
  for (;;) {
    double full_s = 0, count = 0;
    for (const auto& s : sections) (s.compressed ? count : full_s) += s.compressed ? 1 : s.end_s - s.begin_s;
    if (count == 0) return 0;
    const double width = std::min(narrow, TimeAxis::most_narrow / count);
    const double scale = (1 - width * count) / full_s;
    bool any = false;
    for (auto& s : sections) {
      if (!s.compressed || (s.end_s - s.begin_s) * scale > width) continue;
      s.compressed = false;
      any = true;
    }
    if (!any) return width;
  }
}

}  // namespace

TimeAxis::TimeAxis(double begin_s, double end_s) {
  begin_s = sane(begin_s, 0);
  end_s = sane(end_s, begin_s);
  const double least = std::max(shortest_s, std::fabs(begin_s) * 1e-12);
  sections_.push_back({begin_s, std::max(end_s, begin_s + least), 0, 1, false});
}

TimeAxis TimeAxis::compressed(double begin_s, double end_s, std::span<const TimeRange> full, double narrow) {
  TimeAxis axis(begin_s, end_s);
  const std::vector<TimeRange> whole = joined(axis.begin_s(), axis.end_s(), full);
  if (whole.empty() || !(narrow > 0)) return axis;
  std::vector<Section> sections = by_turns(axis.begin_s(), axis.end_s(), whole);
  const double width = narrow_width(sections, narrow);
  double full_s = 0, left = 1;
  for (const Section& s : sections) {
    if (s.compressed) left -= width;
    else full_s += s.end_s - s.begin_s;
  }
  std::vector<Section> placed;
  double at = 0;
  for (Section s : sections) {
    s.low = at;
    s.high = at += s.compressed ? width : (s.end_s - s.begin_s) / full_s * left;
    if (!placed.empty() && !s.compressed && !placed.back().compressed) {  // neighbours of one scale are one
      placed.back().end_s = s.end_s;
      placed.back().high = s.high;
    } else {
      placed.push_back(s);
    }
  }
  placed.back().high = 1;
  axis.sections_ = std::move(placed);
  return axis;
}

const TimeAxis::Section& TimeAxis::at(double second) const {
  auto after = std::upper_bound(sections_.begin(), sections_.end(), second,
                                [](double t, const Section& s) { return t < s.begin_s; });
  return after == sections_.begin() ? *after : *--after;
}

double TimeAxis::place(double second) const {
  if (!(second > begin_s())) return 0;
  if (second >= end_s()) return 1;
  const Section& s = at(second);
  return std::clamp(s.low + (second - s.begin_s) * s.scale(), s.low, s.high);
}

double TimeAxis::second(double place) const {
  if (!(place > 0)) return begin_s();
  if (place >= 1) return end_s();
  auto after =
      std::upper_bound(sections_.begin(), sections_.end(), place, [](double p, const Section& s) { return p < s.low; });
  const Section& s = *--after;
  return std::clamp(s.begin_s + (place - s.low) / s.scale(), s.begin_s, s.end_s);
}

std::vector<double> time_ticks(const TimeAxis& axis, double low, double high, double apart) {
  std::vector<double> ticks;
  low = std::clamp(low, 0.0, 1.0);
  high = std::clamp(high, 0.0, 1.0);
  if (!(low < high) || !(apart > 0)) return ticks;
  apart = std::max(apart, (high - low) / most_ticks);
  double scale = 0;
  for (const auto& s : axis.sections()) {
    if (!s.compressed) scale = s.scale();
  }
  // Steps that people count in: 1, 2, 5 times a power of ten below a minute, then minutes and hours.
  const double least = apart / scale;
  double step = std::pow(10.0, std::floor(std::log10(least)));
  if (least > 20) {
    static constexpr double nice[] = {30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200};
    const auto* found = std::lower_bound(std::begin(nice), std::end(nice), least);
    step = found != std::end(nice) ? *found : std::ceil(least / 86400) * 86400;
  } else {
    for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
      if (factor * step < least) continue;
      step *= factor;
      break;
    }
  }
  for (const auto& s : axis.sections()) {
    if (s.compressed || s.high <= low || s.low >= high) continue;
    const double from = std::max(s.begin_s, axis.second(low)), until = std::min(s.end_s, axis.second(high));
    const double first = std::ceil(from / step);
    for (std::size_t i = 0; i < most_ticks; ++i) {
      const double n = first + static_cast<double>(i);
      if (!(n * step <= until)) break;
      if (ticks.empty() || axis.place(n * step) - axis.place(ticks.back()) >= apart * 0.999) ticks.push_back(n * step);
    }
  }
  return ticks;
}

}  // namespace pclscope::layout
