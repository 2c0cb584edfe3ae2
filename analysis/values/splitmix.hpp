// splitmix64: a hash of one number, and the step of a random generator (add `splitmix_step`, then mix).
// Source: G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
#pragma once

#include <cstdint>

namespace pclscope {

constexpr std::uint64_t splitmix_step = 0x9e3779b97f4a7c15u;

constexpr std::uint64_t splitmix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace pclscope
