// Bins of durations: eight per octave, so bin b holds [2^(b/8), 2^((b+1)/8)) ns. Below 1 ns: bin 0; the last bin has
// all from 1.3e5 s on.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace pclscope::density {

inline constexpr unsigned bins_per_octave = 8;
inline constexpr unsigned octaves = 47;
inline constexpr unsigned bins = octaves * bins_per_octave;

// By exponent and the five bits behind it, as a double has them: the bin of the first value of that 32nd of an octave.
// A 32nd is narrower than any bin, so one comparison with where the next bin begins decides. That is exact up to 2^53,
// beyond which all is one bin.
struct BinTable {
  static constexpr unsigned parts = 32, part_shift = 52 - 5, bias = 1023 * parts;
  std::array<std::uint16_t, 64 * parts> guess{};
  std::array<std::uint64_t, bins + 1> begins{};  // ns
  BinTable() {
    for (unsigned b = 0; b < bins; ++b)
      begins[b] = static_cast<std::uint64_t>(std::ceil(std::exp2(static_cast<long double>(b) / bins_per_octave)));
    begins[bins] = ~std::uint64_t{0};
    for (unsigned i = 0; i < guess.size(); ++i) {
      const long double first =
          std::ldexp(1 + static_cast<long double>(i % parts) / parts, static_cast<int>(i / parts));
      unsigned bin = i / parts * bins_per_octave;
      while (bin < bins && first >= std::exp2(static_cast<long double>(bin + 1) / bins_per_octave)) ++bin;
      guess[i] = static_cast<std::uint16_t>(std::min(bin, bins - 1));
    }
  }
};
inline const BinTable bin_table;

// Of 1 ns to 2^63 ns.
inline unsigned bin_of_some(std::uint64_t ns) {
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(ns)));
  const unsigned guess = bin_table.guess[(bits >> BinTable::part_shift) - BinTable::bias];
  return guess + (ns >= bin_table.begins[guess + 1]);
}

inline unsigned bin_of(std::uint64_t ns) {
  return bin_of_some(std::clamp<std::uint64_t>(ns, 1, std::uint64_t{1} << 62));
}

// Where bin `bin` begins, when an octave has `per_octave` of them.
inline double begin_ns(double bin, unsigned per_octave = bins_per_octave) { return std::exp2(bin / per_octave); }

}  // namespace pclscope::density
