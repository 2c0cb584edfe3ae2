#include "analysis/region/linkage.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace pclscope {

namespace {

constexpr double digits = 1e9;

// Distances that differ in rounding only become the same number.
double rounded(double d, double scale) { return std::round(d / scale * digits) / digits * scale; }

class NearestNeighbourChain {
 public:
  explicit NearestNeighbourChain(Eigen::MatrixXd& distance)
      : distance_(distance),
        size_(static_cast<std::size_t>(distance.rows()), 1),
        active_(size_.size()),
        scale_(std::max(distance.maxCoeff(), std::numeric_limits<double>::min())) {
    std::iota(active_.begin(), active_.end(), 0);
    distance_ = distance_.unaryExpr([this](double d) { return rounded(d, scale_); });
  }

  // Merges in the order in which the chain finds them, named by a slot (the smaller index) each.
  std::vector<Merge> run() {
    std::vector<Merge> merges;
    std::vector<std::int32_t> chain;
    while (active_.size() > 1) {
      if (chain.empty()) chain.push_back(active_.front());
      const std::int32_t tip = chain.back();
      const std::int32_t before = chain.size() > 1 ? chain[chain.size() - 2] : -1;
      const std::int32_t next = nearest(tip, before);
      if (next != before) {
        chain.push_back(next);
        continue;
      }
      chain.resize(chain.size() - 2);
      merges.push_back({std::min(tip, before), std::max(tip, before), distance_(tip, before)});
      join(std::min(tip, before), std::max(tip, before));
    }
    return merges;
  }

 private:
  // The previous element of the chain wins a tie, or the chain would not end; then the smallest index.
  std::int32_t nearest(std::int32_t tip, std::int32_t before) const {
    const double* column = distance_.col(tip).data();
    std::int32_t best = before;
    double least = before >= 0 ? column[before] : std::numeric_limits<double>::infinity();
    for (const std::int32_t other : active_) {
      if (other == tip || column[other] >= least) continue;
      least = column[other];
      best = other;
    }
    return best;
  }

  void join(std::int32_t kept, std::int32_t gone) {
    active_.erase(std::lower_bound(active_.begin(), active_.end(), gone));
    const double a = static_cast<double>(size_[kept]), b = static_cast<double>(size_[gone]);
    for (const std::int32_t other : active_) {
      if (other == kept) continue;
      const double mean = (a * distance_(other, kept) + b * distance_(other, gone)) / (a + b);
      distance_(other, kept) = distance_(kept, other) = rounded(mean, scale_);
    }
    size_[kept] += size_[gone];
  }

  Eigen::MatrixXd& distance_;
  std::vector<std::int64_t> size_;
  std::vector<std::int32_t> active_;  // ascending
  double scale_;
};

}  // namespace

std::vector<Merge> average_linkage(Eigen::MatrixXd distance) {
  const auto n = static_cast<std::int32_t>(distance.rows());
  if (n < 2) return {};
  std::vector<Merge> found = NearestNeighbourChain(distance).run();
  // A cluster is made before it is merged on, so a stable sort keeps children before parents.
  std::vector<double> height_of(static_cast<std::size_t>(n), 0.0);
  for (Merge& m : found) {
    m.height = std::max({m.height, height_of[m.left], height_of[m.right]});
    height_of[m.left] = m.height;
  }
  std::stable_sort(found.begin(), found.end(), [](const Merge& x, const Merge& y) { return x.height < y.height; });
  std::vector<std::int32_t> cluster(static_cast<std::size_t>(n));  // of the slot
  std::iota(cluster.begin(), cluster.end(), 0);
  for (std::int32_t k = 0; k < n - 1; ++k) {
    Merge& m = found[k];
    const std::int32_t slot = m.left;
    m.left = cluster[m.left];
    m.right = cluster[m.right];
    cluster[slot] = n + k;
  }
  return found;
}

std::vector<std::int32_t> cut_at_height(const std::vector<Merge>& merges, double threshold) {
  const std::size_t n = merges.size() + 1;
  std::vector<std::int32_t> top(n + merges.size());  // the cluster above, or itself
  std::iota(top.begin(), top.end(), 0);
  for (std::size_t k = 0; k < merges.size(); ++k) {
    if (merges[k].height > threshold) break;
    top[merges[k].left] = top[merges[k].right] = static_cast<std::int32_t>(n + k);
  }
  std::vector<std::int32_t> number(top.size(), -1), label(n);
  std::int32_t count = 0;
  for (std::size_t leaf = 0; leaf < n; ++leaf) {
    auto at = static_cast<std::int32_t>(leaf);
    while (top[at] != at) at = top[at];
    if (number[at] < 0) number[at] = count++;
    label[leaf] = number[at];
  }
  return label;
}

}  // namespace pclscope
