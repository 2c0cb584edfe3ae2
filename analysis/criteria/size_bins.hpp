// Message sizes to bins: 50 bytes wide up to 12,800 bytes, above it 16 bins per octave (at most 6.25 % wide).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace pclscope::size_bins {

inline constexpr std::uint64_t linear_width = 50;
inline constexpr std::uint64_t linear_end = 12'800;  // 256 bins of 50 bytes
inline constexpr std::uint32_t linear_count = linear_end / linear_width;
inline constexpr std::uint32_t per_octave = 16;
inline constexpr std::uint32_t first_octave = 13;  // 8192: linear_end = 8192 * 25/16
inline constexpr std::uint32_t octaves = 36;       // up to 2^49 bytes; larger ones share the last bin
inline constexpr std::uint32_t skipped = 9;        // of the first octave, below linear_end
inline constexpr std::uint32_t count = linear_count + octaves * per_octave - skipped;

inline std::uint32_t bin_of(std::uint64_t bytes) {
  if (bytes < linear_end) return static_cast<std::uint32_t>(bytes / linear_width);
  const std::uint32_t octave = static_cast<std::uint32_t>(std::bit_width(bytes)) - 1;
  const std::uint32_t sixteenth = static_cast<std::uint32_t>(bytes >> (octave - 4)) & 15;
  return std::min(linear_count + (octave - first_octave) * per_octave + sixteenth - skipped, count - 1);
}

// The smallest size of a bin; of `count`: where the last one ends.
inline std::uint64_t low_of(std::uint32_t bin) {
  if (bin < linear_count) return bin * linear_width;
  const std::uint32_t n = bin - linear_count + skipped;
  return (16ull + n % per_octave) << (first_octave + n / per_octave - 4);
}

}  // namespace pclscope::size_bins
