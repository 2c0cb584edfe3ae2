// Numbers of bytes in 16 bits: exact below 2,048, above to 0.05 %.
#pragma once

#include <bit>
#include <cstdint>

namespace pclscope::session {

inline std::uint16_t to_short_bytes(std::uint32_t bytes) {
  if (bytes < 2048) return static_cast<std::uint16_t>(bytes);
  std::uint32_t shift = static_cast<std::uint32_t>(std::bit_width(bytes)) - 11;
  std::uint64_t rounded = (std::uint64_t{bytes} + (1ull << (shift - 1))) >> shift;
  if (rounded == 2048) ++shift, rounded = 1024;
  return static_cast<std::uint16_t>(((shift + 1) << 10) | (rounded & 1023));
}

inline std::uint64_t from_short_bytes(std::uint16_t code) {
  const std::uint32_t exponent = code >> 10;
  const std::uint64_t rest = code & 1023;
  return exponent == 0 ? rest : (1024 + rest) << (exponent - 1);
}

}  // namespace pclscope::session
