#include "analysis/window/noise_scale.hpp"

#include <algorithm>
#include <cmath>

namespace pclscope {

namespace {

// Quantiles for independent normal values of deviation 1.
constexpr double residual_median = 0.412, residual_tail = 2.17, step_median = 0.39;

constexpr double few = 8;

double median_of_three(double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

// Value number `rank` of the first `count` in order; copies them.
template <std::size_t n>
double ordered(const std::array<float, n>& values, std::size_t count, double share) {
  std::array<float, n> sorted = values;
  const auto rank = static_cast<std::ptrdiff_t>(share * static_cast<double>(count - 1));
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<double>(sorted[static_cast<std::size_t>(rank)]);
}

}  // namespace

void NoiseScale::add(double y, double weight) {
  std::move(recent_.begin() + 1, recent_.end(), recent_.begin());
  std::move(weights_.begin() + 1, weights_.end(), weights_.begin());
  recent_.back() = y;
  weights_.back() = weight;
  ++seen_;
  if (seen_ >= recent_.size()) add_residual();
  add_block(y);
  if (seen_ < 64 || seen_ % 8 == 0) refresh();
}

void NoiseScale::add_residual() {
  const double before = median_of_three(recent_[0], recent_[1], recent_[2]);
  const double after = median_of_three(recent_[4], recent_[5], recent_[6]);
  const double y = recent_[3];
  const double nearest = std::min({std::fabs(y - before), std::fabs(y - after), std::fabs(y - (before + after) / 2)});
  residuals_[residual_count_ % residuals_.size()] = static_cast<float>(nearest * std::sqrt(weights_[3]));
  ++residual_count_;
}

void NoiseScale::add_block(double y) {
  block_[(seen_ - 1) % block_.size()] = y;
  if (seen_ % block_.size() != 0) return;
  std::array<double, 8> sorted = block_;
  std::sort(sorted.begin(), sorted.end());
  const double median = (sorted[3] + sorted[4]) / 2;
  if (seen_ > block_.size()) {
    steps_[step_count_ % steps_.size()] = static_cast<float>(std::fabs(median - last_block_));
    ++step_count_;
  }
  last_block_ = median;
}

void NoiseScale::refresh() {
  double sigma = floor;
  if (const std::size_t n = std::min(residual_count_, residuals_.size()); n > 0)
    sigma = std::max({sigma, ordered(residuals_, n, 0.5) / residual_median,
                      n < 40 ? 0 : ordered(residuals_, n, 0.975) / residual_tail});
  if (const std::size_t n = std::min(step_count_, steps_.size()); n >= 16)  // fewer say little
    sigma = std::max(sigma, ordered(steps_, n, 0.5) / step_median);
  if (seen_ < prior_windows)
    sigma = std::max(sigma, prior * (1 - static_cast<double>(seen_) / static_cast<double>(prior_windows)));
  sigma *= 1 + few / static_cast<double>(seen_);  // estimates from few windows are uncertain
  sigma_ = sigma;
}

}  // namespace pclscope
