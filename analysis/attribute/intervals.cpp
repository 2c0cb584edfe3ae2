#include "analysis/attribute/intervals.hpp"

#include <cmath>

namespace pclscope::attribute {
namespace {

constexpr double closed_gap_s = 1.6;  // breaks as long as this do not end an interval
constexpr double sure_s = 2;          // an interval of that length is no chance event
constexpr double sure_events = 12;
constexpr double typical = 0.75, much_less = 0.4;  // quantile of the slices' cost per time; what counts as much less
constexpr std::size_t newest = 2;                  // slices: what acted in one of them still acts

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
  const auto part = [&](std::size_t i) {
    return std::clamp(cost[i] / (inner / inner_s * std::max(slices[i].seconds(), 1e-9)), 0.0, 1.0);
  };
  interval.begin_s += (1 - part(interval.first)) * first.seconds();
  interval.end_s -= (1 - part(interval.last)) * last.seconds();
}

}  // namespace

namespace {

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

// Slices that cost much less than the interval's typical ones are before or after it.
std::vector<char> above_background(const std::vector<Slice>& slices, const std::vector<double>& cost,
                                   const std::vector<char>& active) {
  std::vector<char> clear = active;
  for (const Interval& interval : joined(slices, active)) {
    std::vector<double> rates;
    const auto rate = [&](std::size_t i) { return cost[i] / std::max(slices[i].seconds(), 1e-9); };
    for (std::size_t i = interval.first; i <= interval.last; ++i)
      if (active[i]) rates.push_back(rate(i));
    const auto at = rates.begin() + static_cast<std::ptrdiff_t>(typical * static_cast<double>(rates.size() - 1));
    std::nth_element(rates.begin(), at, rates.end());
    for (std::size_t i = interval.first; i <= interval.last; ++i) clear[i] = active[i] && rate(i) >= much_less * *at;
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
