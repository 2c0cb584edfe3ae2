// What is usual: the latency criteria of a run by message size, inside and between nodes (PCLVis, criteria plot). Both
// axes are logarithmic; whatever is not a number, or not above 0, is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

struct CriteriaPoint {
  std::size_t index = 0;  // in Snapshot::criteria
  Point at;               // the middle of its sizes
};

struct CriteriaPlot {
  Rect area;
  double bytes_low = 1, bytes_high = 2;      // powers of two, 1 at least
  double time_low = 1e-6, time_high = 1e-5;  // seconds, powers of ten
  // By size. What messages take, and of that the transfer alone, where it is known.
  std::vector<CriteriaPoint> inside, between, inside_transfer, between_transfer;

  float x(double bytes) const;
  float y(double seconds) const;
  bool empty() const { return inside.empty() && between.empty(); }
  std::size_t points() const { return inside.size() + between.size(); }
};

CriteriaPlot criteria_plot(const std::vector<Criterion>& criteria, const Rect& area);
// Of the points of what messages take the nearest one within so many pixels; null: none.
const CriteriaPoint* point_near(const CriteriaPlot& plot, Point at, float within);
// Powers for labels: of two (by 1, 2, 4, ... steps, at most `most` of them) or of ten.
std::vector<double> size_ticks(const CriteriaPlot& plot, int most);
std::vector<double> duration_ticks(const CriteriaPlot& plot);

}  // namespace pclscope::layout
