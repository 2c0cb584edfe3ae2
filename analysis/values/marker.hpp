// A part of the program that it named itself (docs/markers.md): over all ranks and all times that they were in it.
// Plain values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace pclscope {

struct Marker {
  std::string name;              // as the program has it: any bytes
  std::uint32_t ranks = 0;       // that were in it
  std::int32_t lowest_rank = 0;  // of them
  std::int32_t highest_rank = 0;
  std::uint32_t inside = 0;           // ranks that are in it now
  double begin_s = 0;                 // the first rank came into it, since the time origin
  double end_s = 0;                   // the last one left it, or is in it now
  std::uint64_t times = 0;            // how often ranks came into it
  std::uint64_t iterations = 0;       // of these with a number
  std::int64_t lowest_iteration = 0;  // of the numbers
  std::int64_t highest_iteration = 0;
  std::uint64_t cut = 0;     // how often its end was not recorded: it counts until the record broke off
  double time_s = 0;         // inside it, over all ranks
  double mpi_s = 0;          // of that, inside MPI
  double most_s = 0;         // inside it, of the rank with most
  double most_useful_s = 0;  // of that outside MPI, of the rank with most
  std::int32_t most_useful_rank = -1;
  bool threads = false;  // several threads of a rank were in it: sums are theirs

  // Of the same name, on other ranks.
  Marker& operator+=(const Marker& more) {
    lowest_rank = ranks == 0 ? more.lowest_rank : std::min(lowest_rank, more.lowest_rank);
    highest_rank = ranks == 0 ? more.highest_rank : std::max(highest_rank, more.highest_rank);
    begin_s = ranks == 0 ? more.begin_s : std::min(begin_s, more.begin_s);
    end_s = ranks == 0 ? more.end_s : std::max(end_s, more.end_s);
    if (more.iterations > 0) {
      lowest_iteration = iterations == 0 ? more.lowest_iteration : std::min(lowest_iteration, more.lowest_iteration);
      highest_iteration =
          iterations == 0 ? more.highest_iteration : std::max(highest_iteration, more.highest_iteration);
    }
    if (most_useful_rank < 0 || more.most_useful_s > most_useful_s) {
      most_useful_s = more.most_useful_s;
      most_useful_rank = more.most_useful_rank;
    }
    most_s = std::max(most_s, more.most_s);
    ranks += more.ranks;
    inside += more.inside;
    times += more.times;
    iterations += more.iterations;
    cut += more.cut;
    time_s += more.time_s;
    mpi_s += more.mpi_s;
    threads |= more.threads;
    return *this;
  }
  bool operator==(const Marker&) const = default;
};

}  // namespace pclscope
