// What a thread keeps of a loop of polls: calls that found nothing, with no event between them (FORMAT.md, rule 13).
// polling.cpp judges it.
#pragma once

#include <cstdint>

namespace pclscope {

struct Polling {
  static constexpr std::uint64_t short_gap = 1u << 16;   // ticks between two calls that are no work: 20 to 70 us
  std::uint64_t head = ~std::uint64_t{0};                // of the ring, since when there was no event
  std::uint64_t begin = 0, end = 0;                      // of the first, of the last
  std::uint64_t probed_from = 0, probed_end = 0;         // of the Improbes at its end: the first begins, the last ends
  std::uint64_t waited = 0;                              // inside them and in short gaps
  std::uint64_t gaps = 0;                                // long gaps
  std::uint64_t measured_from = 0;                       // since when the processor's time is known; 0: not
  std::uint64_t measured_waited = 0, measured_gaps = 0;  // `waited` and `gaps` then
  std::uint64_t measured_wall_ns = 0, measured_ns = 0;   // the clock and the processor's time then
};

}  // namespace pclscope
