// Bins of durations: eight per octave, so bin b holds [2^(b/8), 2^((b+1)/8)) ns. Below 1 ns: bin 0; the last bin has
// all from 1.3e5 s on.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace pclscope::density {

inline constexpr unsigned bins_per_octave = 8;
inline constexpr unsigned octaves = 47;
inline constexpr unsigned bins = octaves * bins_per_octave;

// What lies between 1 and 2 in 64 bits, the leading one included: where the bins of an octave begin, and for each 32nd
// of an octave the bin of its first value. A 32nd is narrower than any bin: one comparison decides.
struct OctaveTable {
  std::array<std::uint64_t, bins_per_octave + 1> begins{};
  std::array<std::uint8_t, 32> guess{};
  OctaveTable() {
    for (unsigned k = 0; k < bins_per_octave; ++k)
      begins[k] = static_cast<std::uint64_t>(std::ceil(std::exp2(63.0L + static_cast<long double>(k) / 8)));
    begins[bins_per_octave] = ~std::uint64_t{0};
    for (std::size_t i = 0; i < guess.size(); ++i) {
      const std::uint64_t first = (std::uint64_t{32} + i) << 58;
      while (first >= begins[guess[i] + 1u]) ++guess[i];
    }
  }
};
inline const OctaveTable octave_table;

inline unsigned bin_of(std::uint64_t ns) {
  ns |= ns == 0;
  const auto zeros = static_cast<unsigned>(std::countl_zero(ns));
  const std::uint64_t mantissa = ns << zeros;
  const unsigned guess = octave_table.guess[mantissa >> 58 & 31];
  const unsigned bin = (63 - zeros) * bins_per_octave + guess + (mantissa >= octave_table.begins[guess + 1]);
  return bin < bins ? bin : bins - 1;
}

// Where bin `bin` begins, when an octave has `per_octave` of them.
inline double begin_ns(double bin, unsigned per_octave = bins_per_octave) { return std::exp2(bin / per_octave); }

}  // namespace pclscope::density
