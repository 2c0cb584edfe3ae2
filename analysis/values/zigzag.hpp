// Numbers of either sign near 0 as numbers near 0: 0, -1, 1, -2 become 0, 1, 2, 3. Of differences modulo 2^64; exact
// for any.
#pragma once

#include <cstdint>

namespace pclscope {

constexpr std::uint64_t zigzag(std::uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }
constexpr std::uint64_t unzigzag(std::uint64_t stored) { return stored >> 1 ^ (0 - (stored & 1)); }

}  // namespace pclscope
