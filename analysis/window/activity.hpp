// What ranks do besides messages: time inside recorded MPI calls, collectives, how far each rank is, and in which parts
// of the program that it named.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/window/markers.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class Activity {
 public:
  struct Rank {
    std::uint64_t mpi_ticks = 0;        // sums over threads: inside MPI, but for MPI_Init and MPI_Finalize
    std::uint64_t one_sided_ticks = 0;  // of that, in synchronisation of windows
    std::uint64_t file_ticks = 0;       // of that, in MPI-IO
    std::uint32_t threads = 0;          // that left events
    std::uint64_t collectives = 0;
    bool finalized = false;
    bool came = false;                 // it has left an event; before that no moment is known
    std::uint64_t init_ticks = 0;      // in MPI_Init; not in mpi_ticks
    std::int64_t before_init_ns = -1;  // its process was at work when it called MPI_Init; -1 not known
    std::uint64_t begin_ticks = 0;     // MPI_Init had returned; without that (attached later): its first call began
    std::uint64_t end_ticks = 0;       // MPI_Finalize began; before: its newest call returned
    // Per thread: end of the newest interval counted; 0: it has left no event.
    std::vector<std::uint64_t> covered;
    std::vector<std::uint64_t> mpi_ticks_of;  // per thread: of mpi_ticks
  };

  explicit Activity(std::int32_t ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);

  const Rank& rank(std::int32_t rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  std::uint64_t events() const { return events_; }
  std::uint32_t finalized_ranks() const { return finalized_ranks_; }
  std::vector<Marker> markers(const TickScale& scale) const;

 private:
  void mark(std::int32_t rank, std::uint32_t thread, const record::Event& event, const Markers::Now& now);

  std::vector<Rank> ranks_;
  std::uint64_t events_ = 0;
  std::uint32_t finalized_ranks_ = 0;
  Markers markers_;
};

}  // namespace pclscope
