// One rank: the preloaded library, compiled with steps and loaded once per rank, so that each has its own globals.
#pragma once

#include <cstdint>

#include "interpose/library/mpi.hpp"

namespace explore {

struct RankSetUp {
  int rank;
  int size;
  bool threads;     // MPI_THREAD_MULTIPLE
  bool attachable;  // only preloaded: records in sessions
  const char* token;
  std::uint64_t ring_events;
  std::uint64_t ring_limit;
  void* (*simulated)(const char* name);  // the MPI library's function, nullptr: there is none
};

// What the library keeps per thread.
struct ThreadState {
  void* recorder = nullptr;
  void* muted = nullptr;
  bool refused = false;
};

struct ExploredRank {
  bool (*set_up)(const RankSetUp&);  // MPI_Init up to where recording begins: once, before any schedule
  bool (*begin)();                   // the rest of MPI_Init
  void (*end)();                     // MPI_Finalize, before the MPI library's
  ThreadState (*thread)();
  void (*set_thread)(const ThreadState&);
  void* (*wrapper)(const char* name);  // what the application's call of it comes to
};

}  // namespace explore

extern "C" const explore::ExploredRank* explored_rank();
