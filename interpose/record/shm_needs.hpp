// What MPI itself takes of /dev/shm, measured with programs that talk to all others (docs/running.md, "Memory"), and
// what our own rank does, whose buffers are small (rank_main.cpp).
#pragma once

#include <cstdint>

namespace pclscope::record {

struct ShmNeeds {
  std::uint64_t of_rank;
  std::uint64_t of_tool;
};
inline constexpr ShmNeeds openmpi_needs{std::uint64_t{768} << 10, std::uint64_t{128} << 10};
inline constexpr ShmNeeds mpich_needs{std::uint64_t{4608} << 10, std::uint64_t{1} << 20};

}  // namespace pclscope::record
