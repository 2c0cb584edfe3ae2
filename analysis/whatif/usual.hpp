// Typical values of what was measured: medians, or other quantiles, by pair of ranks and size, or by class and size
// where those are few.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/values/message.hpp"

namespace pclscope::whatif {

inline constexpr std::size_t enough_transfers = 5;  // to tell what is usual

// The value of rank ceil(q n); reorders. 0 of nothing.
inline std::int64_t quantile(std::vector<std::int64_t>& values, double q) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

inline std::uint32_t octave_of(std::uint64_t bytes) { return static_cast<std::uint32_t>(std::bit_width(bytes)); }

// By which the times of messages are told: pair and octave of sizes, or octave and whether between nodes.
inline std::uint64_t pair_key(const Message& m) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(m.source)) << 36) ^
         (static_cast<std::uint64_t>(static_cast<std::uint32_t>(m.destination)) << 8) ^ octave_of(m.bytes);
}
inline std::uint64_t class_key(const Message& m) {
  return (std::uint64_t{1} << 63) + 2 * octave_of(m.bytes) + ((m.flags & message_flag::inter_node) != 0);
}

// Medians, or other quantiles, by a key of the caller's; those with fewer than `enough` values are not known.
class Quantiles {
 public:
  explicit Quantiles(std::size_t enough, double q = 0.5) : enough_(enough), q_(q) {}
  void add(std::uint64_t key, std::int64_t value) { values_[key].push_back(value); }
  void close() {
    for (auto& [key, values] : values_)
      if (values.size() >= enough_) found_[key] = quantile(values, q_);
    values_.clear();
  }
  // -1: not known.
  std::int64_t of(std::uint64_t key) const {
    const auto it = found_.find(key);
    return it == found_.end() ? -1 : it->second;
  }

 private:
  std::size_t enough_;
  double q_;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> values_;
  std::unordered_map<std::uint64_t, std::int64_t> found_;
};

}  // namespace pclscope::whatif
