#include "analysis/window/piece_fit.hpp"

#include <algorithm>

namespace pclscope {

namespace {

// Weighted sums of a piece, abscissa and values relative to one of its ends: no cancellation however long the series.
struct PieceSums {
  double w = 0, k = 0, kk = 0, y = 0, ky = 0, yy = 0;
  void add(double weight, double at, double value) {
    const double wk = weight * at, wy = weight * value;
    w += weight;
    k += wk;
    kk += wk * at;
    y += wy;
    ky += wk * value;
    yy += wy * value;
  }
  double flat_cost() const { return std::max(0.0, yy - y * y / w); }
  double spread() const { return w * kk - k * k; }
  double slope() const { return spread() <= 0 ? 0 : (w * ky - k * y) / spread(); }
  double slope_gain() const {
    const double d = spread(), n = w * ky - k * y;
    return d <= 0 ? 0 : n * n / (d * w);
  }
};

}  // namespace

void PieceFit::clear() {
  entries_.clear();
  first_ = 0;
}

void PieceFit::push(double y, double deviation) {
  if (entries_.size() >= 3 * reach) {
    const double base = entries_[first_ - 1].best;
    entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(first_));
    for (Entry& e : entries_) e.best -= base;  // only differences matter
    first_ = 0;
  }
  entries_.push_back({y, y, deviation, 1 / (deviation * deviation), 0, 1});
  first_ = entries_.size() > reach ? entries_.size() - reach : 0;
  const std::size_t at = entries_.size() - 1;
  if (at > 0) {
    confine(at - 1);
    solve(at - 1);
  }
  confine(at);
  solve(at);
}

void PieceFit::confine(std::size_t at) {
  Entry& e = entries_[at];
  if (at == 0 && entries_.size() == 1) return;
  const double room = outlier * e.deviation;
  const double before = entries_[at > 0 ? at - 1 : at + 1].raw;
  const double after = at + 1 < entries_.size() ? entries_[at + 1].raw : before;
  e.y = std::clamp(e.raw, std::min(before, after) - room, std::max(before, after) + room);
}

void PieceFit::solve(std::size_t at) {
  Entry& last = entries_[at];
  const std::size_t longest = std::min(at + 1, reach);
  PieceSums sums;
  double best = 0;
  std::uint32_t length = 0;
  for (std::size_t n = 1; n <= longest; ++n) {
    const std::size_t i = at + 1 - n;
    const Entry& e = entries_[i];
    sums.add(e.weight, static_cast<double>(n - 1), e.y - last.y);
    const double flat = sums.flat_cost();
    const double fit = n < 3 ? flat : std::min(flat, std::max(0.0, flat - sums.slope_gain()) + slope_penalty);
    const double cost = (i == 0 ? 0 : entries_[i - 1].best) + fit + piece_penalty;
    if (n > 1 && cost >= best) continue;
    best = cost;
    length = static_cast<std::uint32_t>(n);
  }
  last.best = best;
  last.length = length;
}

void PieceFit::fit_piece(std::size_t begin, std::size_t end, double* levels) const {
  PieceSums sums;
  const double zero = entries_[begin].y;
  for (std::size_t i = begin; i < end; ++i)
    sums.add(entries_[i].weight, static_cast<double>(i - begin), entries_[i].y - zero);
  const double slope = end - begin >= 3 && sums.slope_gain() > slope_penalty ? sums.slope() : 0;
  const double level = zero + (sums.y - slope * sums.k) / sums.w;
  for (std::size_t i = begin; i < end; ++i) levels[i - begin] = level + slope * static_cast<double>(i - begin);
}

void PieceFit::fitted(std::vector<double>& levels, std::vector<char>& begins) const {
  levels.assign(size(), 0);
  begins.assign(size(), 0);
  for (std::size_t end = entries_.size(); end > first_;) {
    const std::size_t length =
        std::min<std::size_t>(entries_[end - 1].length, end - first_);  // it may have begun earlier
    const std::size_t begin = end - length;
    fit_piece(begin, end, levels.data() + (begin - first_));
    begins[begin - first_] = 1;
    end = begin;
  }
}

}  // namespace pclscope
