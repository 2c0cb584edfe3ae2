#include "analysis/criteria/criteria.hpp"

#include <algorithm>

namespace pclscope {

// The nearest bin with enough samples whose size is less than a factor of two away.
const Criteria::Bin* Criteria::neighbour(const Class& of, std::uint32_t bin) {
  const double size = static_cast<double>(size_bins::low_of(bin)) + size_bins::linear_width / 2.0;
  for (std::uint32_t distance = 1; distance < size_bins::count; ++distance) {
    bool in_reach = false;
    for (const int sign : {-1, 1}) {
      const std::int64_t at = static_cast<std::int64_t>(bin) + sign * static_cast<std::int64_t>(distance);
      if (at < 0 || at >= size_bins::count) continue;
      const double other =
          static_cast<double>(size_bins::low_of(static_cast<std::uint32_t>(at))) + size_bins::linear_width / 2.0;
      if (std::max(size, other) >= 2 * std::min(size, other)) continue;
      in_reach = true;
      const Bin& candidate = of.bins[static_cast<std::size_t>(at)];
      if (candidate.times.count() >= enough_samples) return &candidate;
    }
    if (!in_reach) return nullptr;
  }
  return nullptr;
}

double Criteria::criterion_ns(const Class& of, std::uint32_t bin) {
  const Bin& b = of.bins[bin];
  if (b.baseline_ns > 0) return b.baseline_ns;
  if (b.times.count() >= enough_samples) return b.median_ns;
  const Bin* other = neighbour(of, bin);
  return other ? other->median_ns : b.median_ns;
}

void Criteria::refresh() {
  for (Class& of : classes_) {
    if (of.changed.empty()) continue;
    for (const std::uint32_t bin : of.changed) {
      Bin& b = of.bins[bin];
      if (b.median_ns == 0 && b.times.count() < enough_samples) of.few.push_back(bin);
      // A median of 0 ns can only come from a clock too coarse to see the message: 1 ns stands for it.
      b.median_ns = std::max(b.times.quantile(0.5), 1.0);
      b.changed = false;
    }
    for (const std::uint32_t bin : of.changed) of.bins[bin].inverse_ns = 1 / criterion_ns(of, bin);
    // Neighbours of bins with few samples may have changed.
    std::erase_if(of.few, [&](std::uint32_t bin) { return of.bins[bin].times.count() >= enough_samples; });
    for (const std::uint32_t bin : of.few) of.bins[bin].inverse_ns = 1 / criterion_ns(of, bin);
    of.changed.clear();
  }
}

void Criteria::load(const std::vector<Criterion>& baseline) {
  for (const Criterion& c : baseline) {
    if (!(c.median_s > 0)) continue;
    Bin& b = classes_[c.inter_node].bins[size_bins::bin_of(c.bytes_low)];
    b.baseline_ns = c.median_s * 1e9;
    b.inverse_ns = 1 / b.baseline_ns;
  }
}

std::vector<Criterion> Criteria::list() const {
  std::vector<Criterion> list;
  for (const bool inter_node : {false, true}) {
    const Class& of = classes_[inter_node];
    for (std::uint32_t bin = 0; bin < size_bins::count; ++bin) {
      const LogHistogram& times = of.bins[bin].times;
      if (times.count() == 0) continue;
      list.push_back({inter_node, size_bins::low_of(bin), size_bins::low_of(bin + 1), times.count(),
                      times.quantile(0.5) * 1e-9});
    }
  }
  return list;
}

}  // namespace pclscope
