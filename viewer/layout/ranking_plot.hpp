// The values of a ranking as a plot (Fujiwara et al. 4.3): places from left to right, the largest value first, values
// upwards. Its cost is that of the pixels, however many places there are.
#pragma once

#include <cstdint>
#include <vector>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

// How many of `count` are the first `percent`: at least one, if there is any.
std::size_t top_count(std::size_t count, double percent);

struct RankingPlot {
  Rect area;
  std::size_t count = 0;       // of places
  double least = 0, most = 1;  // ends of the axis of values; least > 0 when logarithmic
  bool logarithmic = false;
  float x(double place) const;  // left edge of a place
  double place(float x) const;  // not rounded; within 0 .. count
  float y(double value) const;  // below the least: the bottom
};
// `values` never rise.
RankingPlot ranking_plot(const std::vector<double>& values, const Rect& area, bool logarithmic);

// All places that begin in one column of pixels, or the one that spans it.
struct RankingColumn {
  float x = 0;  // left edge
  double most = 0, least = 0;
};
std::vector<RankingColumn> ranking_columns(const std::vector<double>& values, const RankingPlot& plot);

}  // namespace pclscope::layout
