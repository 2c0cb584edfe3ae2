#include "viewer/layout/criteria_plot.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope::layout {
namespace {

constexpr double widest = 64;  // a bin's end over its begin, as drawn
constexpr double most_drawn_s = 1e6, least_drawn_s = 1e-10;

// A bin's, of its logarithm; one that begins with messages without content begins with 1 byte.
double middle_of(const Criterion& c) {
  const double low = std::max(1.0, static_cast<double>(c.bytes_low));
  return std::sqrt(low * std::clamp(static_cast<double>(c.bytes_high), low, widest * low));
}

bool drawable(double seconds) { return std::isfinite(seconds) && seconds >= least_drawn_s && seconds <= most_drawn_s; }

}  // namespace

float CriteriaPlot::x(double bytes) const {
  const double share = std::log2(std::max(bytes, 1.0) / bytes_low) / std::log2(bytes_high / bytes_low);
  return area.low.x + static_cast<float>(share) * area.width();
}

float CriteriaPlot::y(double seconds) const {
  const double share = std::log(seconds / time_low) / std::log(time_high / time_low);
  return area.high.y - static_cast<float>(share) * area.height();
}

CriteriaPlot criteria_plot(const std::vector<Criterion>& criteria, const Rect& area) {
  CriteriaPlot plot;
  plot.area = area;
  double least_bytes = INFINITY, most_bytes = 0, least_s = INFINITY, most_s = 0;
  const auto include = [&](const Criterion& c, double seconds) {
    least_bytes = std::min(least_bytes, middle_of(c));
    most_bytes = std::max(most_bytes, middle_of(c));
    least_s = std::min(least_s, seconds);
    most_s = std::max(most_s, seconds);
  };
  for (const Criterion& c : criteria) {
    if (!drawable(c.criterion_s)) continue;
    include(c, c.criterion_s);
    if (drawable(c.transfer_criterion_s)) include(c, c.transfer_criterion_s);
  }
  if (!(most_bytes > 0)) return plot;
  plot.bytes_low = std::exp2(std::floor(std::log2(least_bytes)));
  plot.bytes_high = std::max(std::exp2(std::ceil(std::log2(most_bytes))), 2 * plot.bytes_low);
  plot.time_low = std::pow(10, std::floor(std::log10(least_s)));
  plot.time_high = std::max(std::pow(10, std::ceil(std::log10(most_s))), 10 * plot.time_low);
  for (std::size_t i = 0; i < criteria.size(); ++i) {
    const Criterion& c = criteria[i];
    if (!drawable(c.criterion_s)) continue;
    const float x = plot.x(middle_of(c));
    (c.inter_node ? plot.between : plot.inside).push_back({i, {x, plot.y(c.criterion_s)}});
    if (drawable(c.transfer_criterion_s))
      (c.inter_node ? plot.between_transfer : plot.inside_transfer).push_back({i, {x, plot.y(c.transfer_criterion_s)}});
  }
  for (auto* points : {&plot.inside, &plot.between, &plot.inside_transfer, &plot.between_transfer})
    std::stable_sort(points->begin(), points->end(),
                     [](const CriteriaPoint& a, const CriteriaPoint& b) { return a.at.x < b.at.x; });
  return plot;
}

const CriteriaPoint* point_near(const CriteriaPlot& plot, Point at, float within) {
  const CriteriaPoint* nearest = nullptr;
  for (const auto* points : {&plot.inside, &plot.between})
    for (const CriteriaPoint& point : *points) {
      const float away = distance(point.at, at);
      if (away <= within && (nearest == nullptr || away < distance(nearest->at, at))) nearest = &point;
    }
  return nearest;
}

std::vector<double> size_ticks(const CriteriaPlot& plot, int most) {
  const int low = static_cast<int>(std::lround(std::log2(plot.bytes_low))),
            high = static_cast<int>(std::lround(std::log2(plot.bytes_high)));
  int by = 1;
  while ((high - low) / by + 1 > std::max(most, 2)) by *= 2;
  std::vector<double> ticks;
  for (int power = std::max(low, 0); power <= high; ++power)
    if (power % by == 0) ticks.push_back(std::exp2(power));
  return ticks;
}

std::vector<double> duration_ticks(const CriteriaPlot& plot) {
  std::vector<double> ticks;
  const int low = static_cast<int>(std::lround(std::log10(plot.time_low))),
            high = static_cast<int>(std::lround(std::log10(plot.time_high)));
  for (int power = low; power <= high; ++power) ticks.push_back(std::pow(10, power));
  return ticks;
}

}  // namespace pclscope::layout
