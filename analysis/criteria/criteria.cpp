#include "analysis/criteria/criteria.hpp"

#include <algorithm>
#include <cmath>

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

Criteria::Typical Criteria::criterion_ns(const Class& of, std::uint32_t bin) {
  const Bin& b = of.bins[bin];
  const Bin* other = b.times.count() >= enough_samples ? nullptr : neighbour(of, bin);
  Typical typical = other ? other->median : b.median;
  if (b.baseline.time > 0) typical.time = b.baseline.time;
  if (b.baseline.transfer > 0) typical.transfer = b.baseline.transfer;
  return typical;
}

Criteria::Inverse Criteria::inverse_of(const Class& of, std::uint32_t bin) {
  const Typical typical = criterion_ns(of, bin);
  return {typical.time > 0 ? 1 / typical.time : 0, typical.transfer > 0 ? 1 / typical.transfer : 0,
          typical.time > 0 ? -std::log(typical.time) : 0};
}

void Criteria::refresh() {
  for (Class& of : classes_) {
    if (of.changed.empty()) continue;
    for (const std::uint32_t bin : of.changed) {
      Bin& b = of.bins[bin];
      if (b.median.time == 0 && b.times.count() < enough_samples) of.few.push_back(bin);
      // A median of 0 ns can only come from a clock too coarse to see the message: 1 ns stands for it.
      b.median = {std::max(b.times.quantile(0.5), 1.0), std::max(b.transfers.quantile(0.5), 1.0)};
      b.changed = false;
    }
    for (const std::uint32_t bin : of.changed) of.bins[bin].inverse = inverse_of(of, bin);
    // Neighbours of bins with few samples may have changed.
    std::erase_if(of.few, [&](std::uint32_t bin) { return of.bins[bin].times.count() >= enough_samples; });
    for (const std::uint32_t bin : of.few) of.bins[bin].inverse = inverse_of(of, bin);
    of.changed.clear();
  }
}

void Criteria::add_counted(bool inter_node, bool transfer, std::uint32_t bin, std::uint32_t bucket,
                           std::uint64_t count) {
  if (bin >= size_bins::count || count == 0) return;
  Class& of = classes_[inter_node];
  Bin& b = of.bins[bin];
  (transfer ? b.transfers : b.times).add_to_bucket(bucket, count);
  if (b.changed) return;
  b.changed = true;
  of.changed.push_back(bin);
}

void Criteria::load(const std::vector<Criterion>& baseline) {
  const auto known = [](double seconds) { return seconds > 0 && std::isfinite(seconds); };
  for (const Criterion& c : baseline) {
    if (!known(c.median_s)) continue;
    Class& of = classes_[c.inter_node];
    const std::uint32_t bin = size_bins::bin_of(c.bytes_low);
    of.bins[bin].baseline = {c.median_s * 1e9, known(c.transfer_median_s) ? c.transfer_median_s * 1e9 : 0};
    of.bins[bin].inverse = inverse_of(of, bin);
  }
}

std::vector<Criterion> Criteria::list() const {
  std::vector<Criterion> list;
  for (const bool inter_node : {false, true}) {
    const Class& of = classes_[inter_node];
    for (std::uint32_t bin = 0; bin < size_bins::count; ++bin) {
      const LogHistogram& times = of.bins[bin].times;
      if (times.count() == 0) continue;
      const Typical typical = criterion_ns(of, bin);
      list.push_back({inter_node, size_bins::low_of(bin), size_bins::low_of(bin + 1), times.count(),
                      times.quantile(0.5) * 1e-9, of.bins[bin].transfers.quantile(0.5) * 1e-9, typical.time * 1e-9,
                      typical.transfer * 1e-9});
    }
  }
  return list;
}

std::uint64_t Criteria::above() const {
  double sum = 0;
  for (const Class& of : classes_)
    for (std::uint32_t bin = 0; bin < size_bins::count; ++bin)
      if (of.bins[bin].times.count() > 0) sum += of.bins[bin].times.above(criterion_ns(of, bin).time);
  return static_cast<std::uint64_t>(std::llround(sum));
}

std::vector<Criterion> Criteria::present() const {
  std::vector<Criterion> all = list();
  for (Criterion& c : all) {
    const Typical typical = criterion_ns(classes_[c.inter_node], size_bins::bin_of(c.bytes_low));
    c.median_s = typical.time * 1e-9;
    c.transfer_median_s = typical.transfer * 1e-9;
  }
  return all;
}

}  // namespace pclscope
