#include "viewer/layout/ranking_plot.hpp"

#include <cmath>

namespace pclscope::layout {
namespace {

constexpr double least_range = 1e-6;  // of a logarithmic axis, of its largest value

}  // namespace

std::size_t top_count(std::size_t count, double percent) {
  const double share = std::isfinite(percent) ? std::clamp(percent, 0.0, 100.0) / 100 : 0;
  const auto held = static_cast<std::size_t>(std::ceil(static_cast<double>(count) * share - 1e-9));
  return std::min(count, std::max<std::size_t>(held, 1));
}

float RankingPlot::x(double place) const {
  return area.low.x + area.width() * static_cast<float>(count > 0 ? place / static_cast<double>(count) : 0);
}

double RankingPlot::place(float x) const {
  if (area.width() <= 0) return 0;
  const double share = std::clamp(static_cast<double>((x - area.low.x) / area.width()), 0.0, 1.0);
  return share * static_cast<double>(count);
}

float RankingPlot::y(double value) const {
  double share = 0;
  if (logarithmic) {
    if (value > least) share = std::log(value / least) / std::log(most / least);
  } else {
    share = (value - least) / (most - least);
  }
  return area.high.y - area.height() * static_cast<float>(std::clamp(share, 0.0, 1.0));
}

// A logarithmic axis ends at the least value that is not zero, or a millionth of the largest.
RankingPlot ranking_plot(const std::vector<double>& values, const Rect& area, bool logarithmic) {
  RankingPlot plot{area, values.size(), 0, 1, logarithmic};
  if (!values.empty() && values.front() > 0) plot.most = values.front();
  if (!logarithmic) return plot;
  const auto zero = std::partition_point(values.begin(), values.end(), [](double v) { return v > 0; });
  const double smallest = zero == values.begin() ? plot.most : *(zero - 1);
  plot.least = std::max(plot.most * least_range, std::min(smallest, plot.most / 10));
  return plot;
}

std::vector<RankingColumn> ranking_columns(const std::vector<double>& values, const RankingPlot& plot) {
  std::vector<RankingColumn> columns;
  if (plot.count == 0) return columns;
  const auto wide = static_cast<std::size_t>(std::max(plot.area.width(), 0.f));
  for (std::size_t column = 0; column < wide; ++column) {
    const std::size_t first = column * plot.count / wide, end = std::max(first + 1, (column + 1) * plot.count / wide);
    columns.push_back({plot.area.low.x + static_cast<float>(column), values[first], values[end - 1]});
  }
  return columns;
}

}  // namespace pclscope::layout
