// Programs of the job that are in MPI without the preloaded library: it did not arrive, or they go around it. Nobody
// will ever enter MPI_Init as far as the board shows, and the program waits there for the tool's rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "analysis/collect/board_file.hpp"

namespace pclscope::aggregator {

enum class Reach { no_mpi, reached, without_library, around_library, linked_statically };
// What the memory map of a process tells (the text of /proc/PID/maps).
Reach reach_of(const std::string& maps);

// One thread. Only until a rank has entered MPI_Init.
class Unreached {
 public:
  // Looks at the started programs and their descendants. A text that says which is so and why, once it has been for
  // long enough that it is no passing helper (a look at the MPI's version, say).
  std::optional<std::string> look(collect::BoardFile& board, std::chrono::steady_clock::time_point now);
  // Of this node, with SIGKILL: MPICH's launcher does not end a job of which a process leaves before MPI_Init.
  void end_programs(collect::BoardFile& board);

 private:
  Reach reach_of_process(std::uint32_t pid);

  std::map<std::uint32_t, std::chrono::steady_clock::time_point> since_;  // by process
  std::set<std::uint32_t> seen_;
  std::map<std::string, bool> has_mpi_inside_;  // by path of a program
};

}  // namespace pclscope::aggregator
