// What the definitions of an archive must name: found in a pass over the rows before the first event is written. Knows
// nothing of libotf2.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/values/wait_state.hpp"
#include "viewer/export/format.hpp"

namespace pclscope::exporting {

struct Otf2Contents {
  std::int32_t ranks = 0;              // of the application
  std::vector<std::uint16_t> threads;  // of each rank that have calls; 1 at least
  std::vector<std::size_t> first;      // index of each rank's first location, and the number of all
  std::vector<std::int32_t> regions;   // by number of an MPI function: which one of those called, -1: was not
  std::uint32_t region_count = 0;
  // Members, ascending: those that the rows name. Nothing says more of a communicator, but for the world.
  std::map<std::uint64_t, std::vector<std::int32_t>> comms;
  std::map<std::uint64_t, std::uint32_t> windows;  // communicators with one-sided operations: number of the window
  std::int64_t first_ns = 0;                       // no event is earlier
  std::size_t location(std::int32_t rank, std::uint16_t thread) const {
    const auto r = static_cast<std::size_t>(rank);
    return first[r] + (thread < threads[r] ? thread : 0);
  }
  std::size_t locations() const { return first.back(); }
  bool has(std::int32_t rank) const { return rank >= 0 && rank < ranks; }
};

Result<Otf2Contents> otf2_contents(const Run& run, const Progress& progress);

}  // namespace pclscope::exporting
