// Typical values of what was measured: medians by pair of ranks and size, or by class and size where those are few.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <vector>

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

// Medians by a key of the caller's; those with fewer than `enough` values are not known.
class Medians {
 public:
  explicit Medians(std::size_t enough) : enough_(enough) {}
  void add(std::uint64_t key, std::int64_t value) { values_[key].push_back(value); }
  void close() {
    for (auto& [key, values] : values_)
      if (values.size() >= enough_) medians_[key] = quantile(values, 0.5);
    values_.clear();
  }
  // -1: not known.
  std::int64_t of(std::uint64_t key) const {
    const auto it = medians_.find(key);
    return it == medians_.end() ? -1 : it->second;
  }

 private:
  std::size_t enough_;
  std::unordered_map<std::uint64_t, std::vector<std::int64_t>> values_;
  std::unordered_map<std::uint64_t, std::int64_t> medians_;
};

}  // namespace pclscope::whatif
