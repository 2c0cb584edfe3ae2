// Cuts a noisy series online into straight pieces: the cut that minimises
//   sum of squared residuals / variance + pieces x penalty          (a sloped piece costs a little more than a flat
//   one)
// over all cuts with pieces of at most `reach` values, by dynamic programming: exact, and changing with each new
// value as far back as the values demand. A single value cannot open a piece: it is first drawn to within 3
// deviations of its neighbours (the newest: of the one before it; released when the next one confirms it).
// Memory: 3 x reach values. Cost: O(reach) per value, about 2 microseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pclscope {

class PieceFit {
 public:
  static constexpr std::size_t reach = 128;
  static constexpr double piece_penalty = 18;  // in units of the variance; sqrt(18) = 4.2 deviations
  static constexpr double slope_penalty = 6;
  static constexpr double outlier = 3;  // deviations

  // Value and its standard deviation (> 0).
  void push(double y, double deviation);
  void clear();
  std::size_t size() const { return entries_.size() - first_; }  // values held, at most reach
  // The fitted level of the held values, oldest first, and where pieces begin: size() of each.
  void fitted(std::vector<double>& levels, std::vector<char>& begins) const;

 private:
  struct Entry {
    double raw, y, deviation, weight;  // y: without outliers
    double best;                       // cost of the best cut that ends here
    std::uint32_t length;              // of its last piece
  };
  void confine(std::size_t at);
  void solve(std::size_t at);
  void fit_piece(std::size_t begin, std::size_t end, double* levels) const;

  std::vector<Entry> entries_;
  std::size_t first_ = 0;  // entries before it are too old
};

}  // namespace pclscope
