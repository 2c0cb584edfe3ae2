// How many calls of MPI began and ended when, how long they took, and how much time ranks spent inside: sums over all
// ranks, or some. What analysis/density/ makes of a record. A plain value; exact at every resolution, as sums are.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

namespace pclscope {

struct CallDensity {
  // Slices begin at the time origin. What began before it stands in slice 0.
  std::uint8_t inside_shift = 20;    // of `inside`: a slice has 2^so many ns
  std::uint8_t calls_shift = 20;     // of `calls`
  std::uint8_t bins_per_octave = 8;  // of durations (density/bins.hpp); 8, 4, 2 or 1

  // Rank-nanoseconds inside a function in one slice: the overlap of calls with it. Threads of a rank: every thread.
  struct Inside {
    std::int32_t region = -1;  // id; -1: in none of those that are told apart
    std::uint16_t function = 0;
    std::uint32_t slice = 0;
    std::uint64_t ns = 0;  // never 0
    auto place() const { return std::tuple(region, function, slice); }
    bool operator==(const Inside&) const = default;
  };
  // Calls that returned, by their duration. Those that are going on are in `inside` only.
  struct Calls {
    std::uint16_t function = 0;
    std::uint32_t slice = 0;
    std::uint16_t bin = 0;
    std::uint64_t starts = 0, ends = 0;  // of these durations, that began and that ended in the slice; not both 0
    auto place() const { return std::tuple(function, slice, bin); }
    bool operator==(const Calls&) const = default;
  };
  std::vector<Inside> inside;  // ascending places, each once
  std::vector<Calls> calls;

  bool empty() const { return inside.empty() && calls.empty(); }
  bool operator==(const CallDensity&) const = default;
};

}  // namespace pclscope
