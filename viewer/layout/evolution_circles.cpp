#include "viewer/layout/evolution_circles.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

using session::HistoryPoint;

constexpr double silence_windows = 10;  // as the analysis has it: longer gaps end what was
constexpr int most_doublings = 60;
constexpr double least_three = 1.8;  // slots: room for start, middle and end, if need be a little over each other

double middle_of(const HistoryPoint& p) { return p.begin_s + static_cast<double>(p.length_s) / 2; }

// Adds up points; the result is a circle.
class Sum {
 public:
  bool any() const { return messages_ > 0; }
  void add(const HistoryPoint& p) {
    if (!any()) begin_s_ = p.begin_s;
    end_s_ = p.end_s();
    length_s_ += static_cast<double>(p.length_s);
    messages_ += p.messages;
    delayed_ += p.delayed;
    weighted_ += static_cast<double>(p.ratio) * p.messages;
  }
  float ratio() const { return static_cast<float>(weighted_ / static_cast<double>(messages_)); }
  EvolutionCircle circle(double place) const {
    const float rate = length_s_ > 0 ? static_cast<float>(static_cast<double>(delayed_) / length_s_) : 0;
    return {place, begin_s_, end_s_, ratio(), rate, 0, messages_, delayed_};
  }

 private:
  double begin_s_ = 0, end_s_ = 0, length_s_ = 0, weighted_ = 0;
  std::uint64_t messages_ = 0, delayed_ = 0;
};

// The length of a window: the shortest of a few points (thinned ones stand for many).
double window_of(const session::RegionHistory& history) {
  double shortest = static_cast<double>(history.points.back().length_s);
  for (std::size_t i = 0; i < history.points.size(); i += std::max<std::size_t>(1, history.points.size() / 16)) {
    shortest = std::min(shortest, static_cast<double>(history.points[i].length_s));
  }
  return shortest;
}

void full_scale(const session::RegionHistory& history, const TimeAxis::Section& s, PointRange points, double slot,
                std::vector<EvolutionCircle>& circles) {
  double bin = window_of(history);
  for (int i = 0; i < most_doublings && bin * s.scale() < slot; ++i) bin *= 2;
  Sum sum;
  double number = 0;
  const auto flush = [&] {
    if (!sum.any()) return;
    const double low = std::max(s.begin_s, number * bin), high = std::min(s.end_s, (number + 1) * bin);
    circles.push_back(sum.circle(s.low + ((low + high) / 2 - s.begin_s) * s.scale()));
    sum = {};
  };
  for (std::size_t i = points.first; i < points.last; ++i) {
    const HistoryPoint& p = history.points[i];
    const double at = std::floor(middle_of(p) / bin);
    if (at != number) flush();
    number = at;
    sum.add(p);
  }
  flush();
}

// Start, middle and end; fewer where there is no room for three.
void compressed(const session::RegionHistory& history, const TimeAxis::Section& s, PointRange points, double slot,
                std::vector<EvolutionCircle>& circles) {
  const std::size_t count = points.last - points.first;
  if (count == 0) return;
  const double width = s.high - s.low;
  const bool three = count >= 3 && width >= least_three * slot;
  Sum middle;
  for (std::size_t i = points.first + three; i < points.last - three; ++i) middle.add(history.points[i]);
  const auto one = [&](std::size_t i, double share) {
    Sum sum;
    sum.add(history.points[i]);
    circles.push_back(sum.circle(s.low + share * width));
  };
  if (three) one(points.first, 1.0 / 6);
  circles.push_back(middle.circle(s.low + width / 2));
  if (three) one(points.last - 1, 5.0 / 6);
}

}  // namespace

PointRange points_between(const session::RegionHistory& history, double begin_s, double end_s) {
  const auto& points = history.points;
  const auto before = [&](double moment) {
    return static_cast<std::size_t>(std::partition_point(points.begin(), points.end(),
                                                         [&](const HistoryPoint& p) { return middle_of(p) < moment; }) -
                                    points.begin());
  };
  const std::size_t first = before(begin_s);
  return {first, std::max(first, before(end_s))};
}

std::vector<EvolutionCircle> evolution_circles(const session::RegionHistory& history, const TimeAxis& axis,
                                               PointRange points, double slot) {
  std::vector<EvolutionCircle> circles;
  if (points.first >= points.last || history.points.empty() || !(slot > 0)) return circles;
  for (const TimeAxis::Section& s : axis.sections()) {
    PointRange inside = points_between(history, s.begin_s, s.end_s);
    inside = {std::max(inside.first, points.first), std::min(inside.last, points.last)};
    if (inside.first >= inside.last) continue;
    if (s.compressed) compressed(history, s, inside, slot, circles);
    else full_scale(history, s, inside, slot, circles);
  }
  return circles;
}

std::vector<CurvePoint> evolution_curve(const session::RegionHistory& history, const TimeAxis& axis, PointRange points,
                                        double column) {
  std::vector<CurvePoint> curve;
  if (points.first >= points.last || !(column > 0)) return curve;
  const double silence_s = silence_windows * window_of(history);
  Sum sum;
  double place_sum = 0, count = 0, number = -1, until_s = history.points[points.first].begin_s;
  bool apart = true;
  const auto flush = [&] {
    if (sum.any()) curve.push_back({place_sum / count, sum.ratio(), apart});
    sum = {};
    place_sum = count = 0;
    apart = false;
  };
  for (std::size_t i = points.first; i < points.last; ++i) {
    const HistoryPoint& p = history.points[i];
    const double place = axis.place(middle_of(p)), at = std::floor(place / column);
    const bool silent = p.begin_s - until_s > silence_s;
    if (at != number || silent) {
      flush();
      apart = apart || curve.empty() || silent;
    }
    number = at;
    until_s = p.end_s();
    sum.add(p);
    place_sum += place;
    ++count;
  }
  flush();
  return curve;
}

}  // namespace pclscope::layout
