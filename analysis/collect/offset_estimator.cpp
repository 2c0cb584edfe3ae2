#include "analysis/collect/offset_estimator.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::collect {
namespace {

constexpr std::int64_t century_ns = 3'155'760'000'000'000'000;
constexpr std::int64_t rounding_ns = 2;  // of two stamps, each cut to whole ns
constexpr double ns_per_s = 1e9;
constexpr double pull_share = 0.3, least_pull_s = 0.05;  // of the time that the samples span
constexpr int halvings = 44;  // of a drift interval of at most 1e6 ns/s: leaves less than 1e-7 ns/s

bool believable(std::int64_t t) { return t > -century_ns && t < century_ns; }

double seconds(std::int64_t ns) { return static_cast<double>(ns) / ns_per_s; }

}  // namespace

// The lines offset = value + slope * x that all bounds leave, at x = 0. For a slope (ns/s) the value may lie between
// lower(slope) and upper(slope); both grow with the slope, because all x <= 0. Their distance, the corridor's width, is
// concave in the slope, so that bisection finds its maximum and where it ends.
class OffsetEstimator::Corridor {
 public:
  Corridor(const std::vector<Line>& lines, double wander, double max_drift)
      : lines_(lines), bend_(wander * ns_per_s / 2), steepest_(max_drift * ns_per_s) {
    double low = -steepest_, high = steepest_;
    for (int i = 0; i < halvings; ++i) {
      const double middle = (low + high) / 2;
      const Cut cut = at(middle);
      (cut.lower_s > cut.upper_s ? low : high) = middle;  // sign of the width's derivative
    }
    widest_ = (low + high) / 2;
    for (const double edge : {-steepest_, steepest_})
      if (width(edge) > width(widest_)) widest_ = edge;
  }

  double upper(double slope) const { return at(slope).upper_ns; }
  double lower(double slope) const { return at(slope).lower_ns; }
  double width(double slope) const {
    const Cut cut = at(slope);
    return cut.upper_ns - cut.lower_ns;
  }
  bool open() const { return width(widest_) >= 0; }
  // The smallest (side -1) or largest (side 1) slope where the corridor has this width, rounded outwards.
  double edge(int side, double least_width) const {
    return outermost(side, widest_, [&](double slope) { return width(slope) >= least_width; });
  }
  // The slope of the widest corridor, but every ns/s away from the usual slope must widen it by `pull` ns: where tight
  // bounds are rare, one upper and one lower bound close together would else turn it far. Of those that are nearly as
  // good the middle, so that few samples leave the slope where it was.
  double best_slope(double usual, double pull) const {
    double low = -steepest_, high = steepest_;
    for (int i = 0; i < halvings; ++i) {
      const double middle = (low + high) / 2;
      const Cut cut = at(middle);
      (cut.lower_s - cut.upper_s > (middle > usual ? pull : -pull) ? low : high) = middle;
    }
    double best = (low + high) / 2;
    if (width(best) < 0) best = widest_, pull = 0;
    const auto worth = [&](double slope) { return width(slope) - pull * std::abs(slope - usual); };
    const double nearly = worth(best) - 0.05 * width(best) - 100;
    const auto good = [&](double slope) { return worth(slope) >= nearly; };
    return (outermost(-1, best, good) + outermost(1, best, good)) / 2;
  }

 private:
  struct Cut {
    double upper_ns, upper_s, lower_ns, lower_s;
  };
  template <class Holds>
  double outermost(int side, double inside, Holds holds) const {
    double outside = side * steepest_;
    if (holds(outside)) return outside;
    for (int i = 0; i < halvings; ++i) {
      const double middle = (inside + outside) / 2;
      (holds(middle) ? inside : outside) = middle;
    }
    return outside;
  }
  Cut at(double slope) const {
    Cut cut{HUGE_VAL, 0, -HUGE_VAL, 0};
    for (const Line& line : lines_) {
      const double upper = line.upper_ns + line.upper_s * (bend_ * line.upper_s - slope);
      const double lower = line.lower_ns - line.lower_s * (bend_ * line.lower_s + slope);
      if (upper < cut.upper_ns) cut.upper_ns = upper, cut.upper_s = line.upper_s;
      if (lower > cut.lower_ns) cut.lower_ns = lower, cut.lower_s = line.lower_s;
    }
    return cut;
  }

  const std::vector<Line>& lines_;
  double bend_, steepest_;
  double widest_ = 0;
};

bool OffsetEstimator::add(const PingSample& sample) {
  const bool sound = believable(sample.t1) && believable(sample.t2) && believable(sample.t3) && believable(sample.t4) &&
                     sample.t4 >= sample.t1 && sample.t3 >= sample.t2 && (spans_.empty() || sample.t4 >= newest_ns_) &&
                     static_cast<double>(sample.t3 - sample.t2) <=
                         static_cast<double>(sample.t4 - sample.t1) * (1 + limits_.max_drift) + rounding_ns;
  if (!sound) {
    ++refused_;
    return false;
  }
  const Bound upper{sample.t1, sample.t2 - sample.t1 + rounding_ns};
  const Bound lower{sample.t4, sample.t3 - sample.t4 - rounding_ns};
  newest_ns_ = sample.t4;
  newest_ = {sample.t4, upper, lower};
  if (spans_.empty() || sample.t4 - spans_.back().from_ns >= limits_.span_ns) {
    spans_.push_back(newest_);
    while (spans_.size() > std::max<std::size_t>(limits_.spans, 1)) spans_.pop_front();
  } else {
    keep_tightest(spans_.back(), upper, lower);
  }
  return true;
}

void OffsetEstimator::keep_tightest(Span& span, const Bound& upper, const Bound& lower) const {
  const auto level = [&](const Bound& bound) {
    return static_cast<double>(bound.offset_ns - span.upper.offset_ns) -
           drift_ * static_cast<double>(bound.at_ns - span.from_ns);
  };
  const bool tighter_upper = level(upper)<level(span.upper), tighter_lower = level(lower)> level(span.lower);
  if (tighter_upper) span.upper = upper;
  if (tighter_lower) span.lower = lower;
}

void OffsetEstimator::lay_out(std::int64_t at_ns) {
  origin_ns_ = spans_.back().upper.offset_ns;
  lines_.clear();
  for (const Span& span : spans_)
    lines_.push_back({seconds(span.upper.at_ns - at_ns), static_cast<double>(span.upper.offset_ns - origin_ns_),
                      seconds(span.lower.at_ns - at_ns), static_cast<double>(span.lower.offset_ns - origin_ns_)});
}

// A clock was set, or drifts otherwise than the limits say: what was before is of no use. The newest sample alone
// never contradicts itself (add() saw to it).
void OffsetEstimator::drop_contradicting(std::int64_t at_ns) {
  lay_out(at_ns);
  if (Corridor(lines_, limits_.max_wander, limits_.max_drift).open()) return;
  ++breaks_;
  while (spans_.size() > 1) {
    spans_.pop_front();
    lay_out(at_ns);
    if (Corridor(lines_, limits_.max_wander, limits_.max_drift).open()) return;
  }
  spans_.front() = newest_;
  lay_out(at_ns);
}

std::optional<OffsetEstimate> OffsetEstimator::estimate(std::int64_t at_ns) {
  if (spans_.empty()) return std::nullopt;
  at_ns = std::clamp(at_ns, newest_ns_, century_ns);
  drop_contradicting(at_ns);
  const Corridor sure(lines_, limits_.max_wander, limits_.max_drift);
  const Corridor likely(lines_, limits_.likely_wander, limits_.max_drift);
  const Corridor& guide = likely.open() ? likely : sure;
  // A corridor that is closed by rounding only still has its widest slope as both edges.
  const double flattest = sure.edge(-1, 0), steepest = sure.edge(1, 0);
  const double least = sure.lower(flattest), most = std::max(sure.upper(steepest), least);
  const double pull = std::max(least_pull_s, pull_share * -lines_.front().upper_s);
  const double slope = std::clamp(guide.best_slope(drift_ * ns_per_s, pull), flattest, steepest);
  const double value = std::clamp((guide.upper(slope) + guide.lower(slope)) / 2, least, most);
  drift_ = slope / ns_per_s;
  return OffsetEstimate{at_ns, static_cast<double>(origin_ns_) + value, drift_, std::max(most - value, value - least),
                        std::max(steepest - slope, slope - flattest) / ns_per_s};
}

void OffsetEstimator::reset() {
  spans_.clear();
  drift_ = 0;
}

}  // namespace pclscope::collect
