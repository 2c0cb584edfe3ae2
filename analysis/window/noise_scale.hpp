// How much a series of window means varies from window to window when nothing happens: one standard deviation, robust
// against steps, ramps and single outliers, honest about heavy tails and slow wander. The largest of
//  - the median and the 97.5 % quantile of |y_t - its surroundings| over the last 128 windows, each divided by what it
//    is for normal noise of deviation 1 (surroundings: median of the 3 before, of the 3 after, or their mean,
//    whichever is nearest, so that a step is no residual; heavy tails raise the quantile),
//  - the median of |differences of medians of successive blocks of 8| over the last 32 blocks, the same way (raised by
//    slow wander and by correlated noise),
//  - a floor, and in the first 24 windows a prior that fades out.
// Calibrated by simulation of normal noise (2,000,000 values). Memory: under 2 KB. Cost: O(1) amortised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pclscope {

class NoiseScale {
 public:
  static constexpr double floor = 0.01;
  static constexpr double prior = 0.15;
  static constexpr std::size_t prior_windows = 24;

  // Value and relative weight (1 = a window of typical size: its residuals are scaled by the root of it).
  void add(double y, double weight);
  double sigma() const { return sigma_; }

 private:
  void add_residual();
  void add_block(double y);
  void refresh();

  std::array<double, 7> recent_{};  // the newest seven, oldest first
  std::array<double, 7> weights_{};
  std::array<float, 128> residuals_{};
  std::array<float, 32> steps_{};
  std::array<double, 8> block_{};
  std::size_t seen_ = 0, residual_count_ = 0, step_count_ = 0;
  double last_block_ = 0;
  double sigma_ = prior;
};

}  // namespace pclscope
