// What `pclscope run` tells the library through the environment. Read once, at the first MPI call.
#pragma once

#include <cstdint>

#include "interpose/record/clock_choice.hpp"

namespace pclscope {

struct Options {
  bool off = false;                   // PCLSCOPE=off, or a job was named: never dormant
  bool job = false;                   // PCLSCOPE_JOB and PCLSCOPE_RANKS are there and make sense
  char token[65] = "";                // PCLSCOPE_JOB: the job's secret, part of names in /dev/shm
  std::int32_t ranks = 0;             // PCLSCOPE_RANKS: of the application
  std::int32_t tool_ranks = 0;        // PCLSCOPE_TOOL_RANKS: after those in the launcher's world
  std::uint32_t aggregators = 1;      // PCLSCOPE_AGGREGATORS: tool's ranks on each node
  std::uint32_t part = 0;             // PCLSCOPE_PART: which of them reads this rank
  std::uint64_t ring_events = 65536;  // PCLSCOPE_RING_EVENTS, rounded up to a power of two
  std::uint64_t ring_limit = 0;       // PCLSCOPE_RING_LIMIT, the same: as far as rings grow
  char ring_directory[256] = "";      // PCLSCOPE_RING_DIR: where rings lie; empty: /dev/shm while there is room
  bool wait_when_full = true;         // PCLSCOPE_OVERFLOW=wait|drop
  std::int32_t wait_ms = 100;         // PCLSCOPE_OVERFLOW_WAIT_MS
  std::uint32_t stacks = 8;           // PCLSCOPE_STACKS: frames of a call path; 0: return addresses alone
  record::ClockChoice clock = record::ClockChoice::automatic;  // PCLSCOPE_CLOCK=tsc|monotonic
};

const Options& options();
// A job that was only preloaded gives itself a token: 32 hex digits. In MPI_Init, before other threads ask.
void adopt_token(const char* token);

}  // namespace pclscope
