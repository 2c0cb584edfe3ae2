#include "analysis/attribute/intervals.hpp"

#include <cmath>
#include <optional>

namespace pclscope::attribute {
namespace {

constexpr double closed_gap_s = 1.6;  // breaks as long as this do not end an interval
constexpr double sure_s = 2;          // an interval of that length is no chance event
constexpr double sure_events = 12;
constexpr double typical = 0.75, much_less = 0.4;  // quantile of the slices' cost per time; what counts as much less
// Next to the typical slices, much less is a part, too: for as long as that, if it is so much of the typical, and so
// much of slices that are not active.
constexpr double least_stretch_s = 4, of_typical = 0.1;
constexpr double brief_stretch_s = 1, of_typical_brief = 0.2;
constexpr double above_calm = 4;
constexpr double least_calm_s = 1;  // of slices that are not active, or they do not tell what is usual
constexpr std::size_t newest = 2;   // slices: what acted in one of them still acts

template <class Number>
std::ptrdiff_t at_index(Number i) {
  return static_cast<std::ptrdiff_t>(i);
}

double at(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// Where it began in its first slice (ended in its last), from what that one cost as against the others.
void trim(Interval& interval, const std::vector<Slice>& slices, const std::vector<double>& cost) {
  const Slice &first = slices[interval.first], &last = slices[interval.last];
  interval.begin_s = at(first.begin_ns);
  interval.end_s = at(last.end_ns);
  if (interval.last - interval.first < 3) return;
  double inner = 0, inner_s = 0;
  for (std::size_t i = interval.first + 1; i < interval.last; ++i) {
    inner += cost[i];
    inner_s += slices[i].seconds();
  }
  if (inner <= 0 || inner_s <= 0) return;
  // As against its neighbours where they cost less than the others: a part of the interval may cost less than another.
  const auto part = [&](std::size_t i, std::size_t next) {
    const std::size_t after = next > i ? next + 1 : next - 1;
    const double nearest = cost[next] / std::max(slices[next].seconds(), 1e-9);
    const double both = (cost[next] + cost[after]) / std::max(slices[next].seconds() + slices[after].seconds(), 1e-9);
    const double whole = std::min({inner / inner_s, nearest, both}) * std::max(slices[i].seconds(), 1e-9);
    return whole > 0 ? std::clamp(cost[i] / whole, 0.0, 1.0) : 1.0;
  };
  interval.begin_s += (1 - part(interval.first, interval.first + 1)) * first.seconds();
  interval.end_s -= (1 - part(interval.last, interval.last - 1)) * last.seconds();
}

// How much time of each slice tells anything: where nearly no message was (everything stood still), little.
std::vector<double> telling_s(const std::vector<Slice>& slices) {
  std::vector<double> rates;
  const auto rate = [](const Slice& s) { return static_cast<double>(s.messages()) / std::max(s.seconds(), 1e-9); };
  for (const Slice& s : slices) rates.push_back(rate(s));
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  if (!rates.empty()) std::nth_element(rates.begin(), middle, rates.end());
  const double usual = rates.empty() ? 0 : *middle;
  std::vector<double> list;
  for (const Slice& s : slices) list.push_back(s.seconds() * (usual > 0 ? std::min(1.0, 2 * rate(s) / usual) : 1));
  return list;
}

std::vector<Interval> joined(const std::vector<Slice>& slices, const std::vector<char>& active) {
  std::vector<Interval> intervals;
  const std::vector<double> telling = telling_s(slices);
  double gap = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (!active[i]) {
      gap += telling[i];
      continue;
    }
    const bool goes_on = !intervals.empty() && gap <= closed_gap_s;
    gap = 0;
    if (!goes_on) {
      intervals.emplace_back();
      intervals.back().first = i;
    }
    intervals.back().last = i;
    intervals.back().active_s += slices[i].seconds();
  }
  return intervals;
}

double rate_of(const std::vector<Slice>& slices, const std::vector<double>& cost, std::size_t i) {
  return cost[i] / std::max(slices[i].seconds(), 1e-9);
}

// Cost per time of the slices that are not active; none where they are too few to tell.
std::optional<double> calm_rate(const std::vector<Slice>& slices, const std::vector<double>& cost,
                                const std::vector<char>& active) {
  double seconds = 0, sum = 0;
  for (std::size_t i = 0; i < slices.size(); ++i) {
    if (active[i]) continue;
    seconds += slices[i].seconds();
    sum += cost[i];
  }
  if (seconds < least_calm_s) return std::nullopt;
  return sum / seconds;
}

// What acts at a lower rate, right before or after the typical slices, is no background: a rank that works a little
// longer at first, and much longer later, began at first; so did one for which more ranks wait later, as they are
// through with all else. `lower` of them that go on for `least_s` are set in `clear`.
void keep_stretches(const std::vector<Slice>& slices, const Interval& interval, const std::vector<char>& lower,
                    double least_s, std::vector<char>& clear) {
  std::vector<char> kept = clear;
  for (std::size_t i = interval.first; i <= interval.last; ++i) {
    if (!lower[i] || clear[i]) continue;
    std::size_t last = i, next = i + 1;  // of the stretch; short breaks do not end it
    double seconds = slices[i].seconds(), gap = 0;
    for (; next <= interval.last && !clear[next] && gap <= closed_gap_s; ++next) {
      gap = lower[next] ? 0 : gap + slices[next].seconds();
      if (lower[next]) seconds += slices[last = next].seconds();
    }
    const bool before = next <= interval.last && clear[next] && gap <= closed_gap_s;
    bool after = false;
    gap = 0;
    for (std::size_t j = i; j-- > interval.first && gap <= closed_gap_s && !after; gap += slices[j].seconds())
      after = clear[j];
    if ((before || after) && seconds >= least_s)
      for (std::size_t j = i; j <= last; ++j) kept[j] = lower[j];
    i = last;
  }
  clear = kept;
}

// Slices that cost much less than the interval's typical ones are before or after it.
std::vector<char> above_background(const std::vector<Slice>& slices, const std::vector<double>& cost,
                                   const std::vector<char>& active) {
  std::vector<char> clear = active, lower(active.size(), 0), least(active.size(), 0);
  const std::optional<double> calm = calm_rate(slices, cost, active);
  for (const Interval& interval : joined(slices, active)) {
    std::vector<double> rates;
    for (std::size_t i = interval.first; i <= interval.last; ++i)
      if (active[i]) rates.push_back(rate_of(slices, cost, i));
    const auto at = rates.begin() + at_index(typical * static_cast<double>(rates.size() - 1));
    std::nth_element(rates.begin(), at, rates.end());
    for (std::size_t i = interval.first; i <= interval.last; ++i) {
      const double rate = rate_of(slices, cost, i);
      clear[i] = active[i] && rate >= much_less * *at;
      const bool above = active[i] && (!calm || rate >= above_calm * *calm);
      lower[i] = above && rate >= of_typical_brief * *at;
      least[i] = above && calm && rate >= of_typical * *at;
    }
    keep_stretches(slices, interval, lower, brief_stretch_s, clear);
    keep_stretches(slices, interval, least, least_stretch_s, clear);
  }
  return clear;
}

}  // namespace

std::vector<Interval> intervals_of(const std::vector<Slice>& slices, const std::vector<double>& cost,
                                   const std::vector<char>& active) {
  const std::vector<char> clear = above_background(slices, cost, active);
  const std::vector<double> telling = telling_s(slices);
  std::vector<Interval> intervals = joined(slices, clear);
  for (Interval& interval : intervals) {
    double all = 0, acting = 0;
    for (std::size_t i = interval.first; i <= interval.last; ++i) {
      interval.cost_s += cost[i];
      all += telling[i];
      acting += clear[i] ? telling[i] : 0;
    }
    interval.share = all > 0 ? acting / all : 0;
    trim(interval, slices, cost);
  }
  return intervals;
}

double persistence(const Interval& interval, double events) {
  return std::min({1.0, interval.active_s / sure_s, events / sure_events}) * ramp(interval.share, 0.25, 0.75);
}

void set_period(Finding& finding, const Interval& interval, const std::vector<Slice>& slices, double threads,
                bool finished) {
  finding.begin_s = interval.begin_s;
  finding.end_s = interval.end_s;
  finding.open = !finished && interval.last + newest >= slices.size();
  finding.lost_s = interval.cost_s;
  const double time = interval.seconds() * threads;
  finding.score = time > 0 ? interval.cost_s / time : 0;
}

double overlap_s(const Finding& a, const Finding& b) {
  return std::max(0.0, std::min(a.end_s, b.end_s) - std::max(a.begin_s, b.begin_s));
}

}  // namespace pclscope::attribute
