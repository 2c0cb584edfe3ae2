// A call site on its way through the matcher, in the 64 bits that an event has for it: the return address (a user
// address of x86-64 has 47 bits) and, above it, the MPI function that was called. Behind the matcher sites are ids.
#pragma once

#include <cstdint>

#include "interpose/record/event.hpp"

namespace pclscope {

inline constexpr unsigned site_address_bits = 48;
inline constexpr std::uint64_t site_address_mask = (std::uint64_t{1} << site_address_bits) - 1;

constexpr std::uint64_t site_key(const record::Event& e) {
  return e.site == 0 ? 0 : (e.site & site_address_mask) | std::uint64_t{e.function} << site_address_bits;
}
constexpr std::uint64_t site_address(std::uint64_t key) { return key & site_address_mask; }
constexpr std::uint16_t site_function(std::uint64_t key) {
  return static_cast<std::uint16_t>(key >> site_address_bits);
}

}  // namespace pclscope
