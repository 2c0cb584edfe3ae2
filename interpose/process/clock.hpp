// Time stamps of events: ticks of the TSC where it is one clock for the whole node, else ns of CLOCK_MONOTONIC.
#pragma once

#include <time.h>

#include <cstdint>

#include "interpose/record/clock_choice.hpp"

namespace pclscope {

extern record::ClockSource clock_source;  // constant after MPI_Init

inline std::uint64_t now() {
  if (clock_source == record::ClockSource::tsc) [[likely]]
    return __builtin_ia32_rdtsc();
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u + static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace pclscope
