// What each window of a fitted part of a region's evolution is: growth, steady or other (defined in evolution.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

// Windows of the part, oldest first; all spans are equally long. Levels are natural logarithms of the ratio.
struct TrendInput {
  std::span<const double> level;      // fitted (PieceFit)
  std::span<const char> begins;       // a piece of the fit begins here
  std::span<const double> value;      // as measured
  std::span<const double> weight;     // relative, > 0
  std::span<const double> average;    // ln Ave_region, up to and including the window
  double deviation = 0.01;            // of a window's value when nothing happens (NoiseScale)
  std::size_t decided = 0;            // windows [0, decided) have their final kinds already ...
  std::span<const PeriodKind> kinds;  // ... which are these
  bool live = true;                   // more windows may follow
  // Where the exact ends of growths matter (the rest may be one or two windows off).
  std::size_t focus_begin = 0, focus_end = 0;
};

// Fills kinds[decided..]; the decided ones are copied.
void label_trends(const TrendInput& in, std::vector<PeriodKind>& kinds);

}  // namespace pclscope
