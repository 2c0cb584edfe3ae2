// Order of time for batches that have it nearly: counting sort by equal slices of time, and within each, where few lie.
// Stable. Linear but for bursts much shorter than a slice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pclscope {

// Fills `order` with the indices of 0..count-1 by time_of(index), and returns the newest time (INT64_MIN of
// none). Times lie within +-2^62.
template <class TimeOf>
std::int64_t order_by_slices(std::size_t count, TimeOf time_of, std::vector<std::uint32_t>& order) {
  constexpr std::size_t slices = 4096;
  order.resize(count);
  if (count == 0) return INT64_MIN;
  std::int64_t least = time_of(0), most = least, last = least;
  bool sorted = true;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t time = time_of(i);
    sorted = sorted && time >= last;
    last = time;
    least = std::min(least, time);
    most = std::max(most, time);
  }
  if (sorted) {
    for (std::size_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(i);
    return most;
  }
  const auto span = static_cast<std::uint64_t>(most - least) / slices + 1;
  const auto slice_of = [&](std::size_t i) { return static_cast<std::uint64_t>(time_of(i) - least) / span; };
  std::vector<std::uint32_t> begin(slices + 1);
  for (std::size_t i = 0; i < count; ++i) ++begin[slice_of(i) + 1];
  for (std::size_t s = 0; s < slices; ++s) begin[s + 1] += begin[s];
  for (std::size_t i = 0; i < count; ++i) order[begin[slice_of(i)]++] = static_cast<std::uint32_t>(i);
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    const std::int64_t a_time = time_of(a), b_time = time_of(b);
    return a_time != b_time ? a_time < b_time : a < b;
  };
  for (std::size_t s = 0, from = 0; s < slices; from = begin[s++])  // begin[s]: the end of slice s by now
    if (begin[s] - from > 1)
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(from),
                order.begin() + static_cast<std::ptrdiff_t>(begin[s]), earlier);
  return most;
}

}  // namespace pclscope
