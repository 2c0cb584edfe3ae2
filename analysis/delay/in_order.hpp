// Order of time for batches that have it nearly: counting sort by equal slices of time, and within each, where few lie.
// Stable. Linear but for bursts much shorter than a slice.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace pclscope {

// Indices of things by their time. An object is reused, so that its buffers stay. One owner.
class InOrder {
 public:
  struct Item {
    std::int64_t time;
    std::uint32_t index;
  };

  // Of the indices 0..count-1 by time_of(index). Returns the newest time (INT64_MIN of none). Times lie within +-2^62.
  template <class TimeOf>
  std::int64_t sort(std::size_t count, TimeOf time_of) {
    items_.resize(count);
    if (count == 0) return INT64_MIN;
    std::int64_t least = time_of(0), most = least, last = least;
    bool sorted = true;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t time = time_of(i);
      items_[i] = {time, static_cast<std::uint32_t>(i)};
      sorted = sorted && time >= last;
      last = time;
      least = std::min(least, time);
      most = std::max(most, time);
    }
    if (!sorted) sort_by_slices(least, most);
    return most;
  }

  std::size_t size() const { return items_.size(); }
  const Item& operator[](std::size_t at) const { return items_[at]; }

 private:
  static constexpr int least_bits = 6, most_bits = 16;  // of the number of slices
  static constexpr int few = 2;                         // 2^few things in a slice, if they are spread evenly

  void sort_by_slices(std::int64_t least, std::int64_t most) {
    const int bits = std::clamp(static_cast<int>(std::bit_width(items_.size())) - few, least_bits, most_bits);
    const int shift = std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most - least))) - bits);
    const auto slice_of = [=](const Item& item) { return static_cast<std::uint64_t>(item.time - least) >> shift; };
    ends_.assign((std::size_t{1} << bits) + 1, 0);
    for (const Item& item : items_) ++ends_[slice_of(item) + 1];
    for (std::size_t s = 1; s < ends_.size(); ++s) ends_[s] += ends_[s - 1];
    by_slice_.resize(items_.size());
    for (const Item& item : items_) by_slice_[ends_[slice_of(item)]++] = item;  // from begin to end of the slice
    const auto earlier = [](const Item& a, const Item& b) {
      return a.time != b.time ? a.time < b.time : a.index < b.index;
    };
    std::uint32_t from = 0;
    for (const std::uint32_t end : ends_) {
      if (end - from > 1) std::sort(by_slice_.begin() + from, by_slice_.begin() + end, earlier);
      from = end;
    }
    items_.swap(by_slice_);
  }

  std::vector<Item> items_, by_slice_;
  std::vector<std::uint32_t> ends_;  // of slices
};

}  // namespace pclscope
