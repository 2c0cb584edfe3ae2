// Counts of nonnegative times in buckets of at most 1/64 octave-relative width: quantiles with a bounded error in
// bounded memory, however many values are added.
//
// Value v < 128 ns: a bucket of its own (exact). Above: 64 buckets per octave, each [a, a + a'/64) with a' the power
// of two below, so half a bucket is at most 1/128 of the value: relative error of a quantile <= 0.79 %.
// Values of 2^44 ns (4.9 hours) and more share the last bucket.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>

namespace pclscope {

class LogHistogram {
 public:
  static constexpr double relative_error = 1.0 / 128;

  void add(std::int64_t value) { add_to_bucket(bucket_for(value), 1); }
  // The same in two steps, for counts that come from elsewhere; a bucket out of range is the last one.
  static std::uint32_t bucket_for(std::int64_t value) {
    return bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)));
  }
  void add_to_bucket(std::uint32_t bucket, std::uint64_t count) {
    if (!buckets_) buckets_ = std::make_unique<std::uint64_t[]>(bucket_count);
    bucket = std::min(bucket, bucket_count - 1);
    buckets_[bucket] += count;
    count_ += count;
    if (bucket < low_) [[unlikely]]
      low_ = bucket;
    if (bucket > high_) [[unlikely]]
      high_ = bucket;
  }
  std::uint64_t count() const { return count_; }

  // The value of rank ceil(q * count) in ascending order, within relative_error; 0 when empty. The median of an even
  // number of values is the lower one of the two in the middle.
  double quantile(double q) const {
    if (count_ == 0) return 0;
    const double position = q * static_cast<double>(count_);
    std::uint64_t rank = static_cast<std::uint64_t>(position);
    if (static_cast<double>(rank) < position) ++rank;
    rank = std::clamp<std::uint64_t>(rank, 1, count_);
    std::uint64_t below = 0;
    for (std::uint32_t bucket = low_; bucket <= high_; ++bucket) {
      below += buckets_[bucket];
      if (below >= rank) return middle_of(bucket);
    }
    return middle_of(high_);
  }

  // How many values are above `value`: of those in its own bucket the share that lies above it, as if they were spread
  // evenly. Wrong by at most what that bucket holds.
  double above(double value) const {
    if (count_ == 0) return 0;
    double sum = 0;
    for (std::uint32_t bucket = low_; bucket <= high_; ++bucket) {
      const double middle = middle_of(bucket), width = bucket < 128 ? 0 : static_cast<double>(width_of(bucket));
      const double share = width == 0 ? middle > value : std::clamp((middle - value) / width + 0.5, 0.0, 1.0);
      sum += share * static_cast<double>(buckets_[bucket]);
    }
    return sum;
  }

 private:
  static constexpr std::uint32_t sub_bits = 6;  // 64 buckets per octave
  static constexpr std::uint32_t top_bit = 44;
  static constexpr std::uint32_t bucket_count = (top_bit - sub_bits) * 64 + 64;

  // v = 1xxxxxx... in binary: the position of the leading one and the 6 bits behind it.
  static std::uint32_t bucket_of(std::uint64_t v) {
    if (v < 128) return static_cast<std::uint32_t>(v);
    if (v >> top_bit) return bucket_count - 1;
    const std::uint32_t shift = static_cast<std::uint32_t>(std::bit_width(v)) - 1 - sub_bits;
    return (shift << sub_bits) + static_cast<std::uint32_t>(v >> shift);
  }
  static std::uint64_t width_of(std::uint32_t bucket) { return bucket < 128 ? 1 : 1ull << ((bucket >> sub_bits) - 1); }
  static double middle_of(std::uint32_t bucket) {
    if (bucket < 128) return bucket;
    const std::uint64_t width = width_of(bucket);
    return static_cast<double>((64ull + (bucket & 63)) * width) + (static_cast<double>(width) - 1) / 2;
  }

  std::unique_ptr<std::uint64_t[]> buckets_;  // 20 KB, made with the first value
  std::uint64_t count_ = 0;
  std::uint32_t low_ = bucket_count - 1, high_ = 0;
};

}  // namespace pclscope
