// The true time on the root's axis, known because all "nodes" are one machine: the TSC is common, and the
// CLOCK_MONOTONIC of a time namespace is off by a constant that the kernel tells.
#pragma once

#include <cstdint>

#include "analysis/values/tick_scale.hpp"
#include "interpose/record/segment.hpp"

struct ClockFacts {
  std::uint64_t origin_ticks = 0;
  double ns_per_tick = 1;
  std::int64_t namespace_ns = 0;  // of CLOCK_MONOTONIC here against the machine's
};

// Of /proc/self/timens_offsets; 0 for the TSC.
std::int64_t namespace_offset(pclscope::record::ClockSource source);

// What the root's axis shows when this node's clock reads `ticks`.
long double true_global(std::uint64_t ticks, const ClockFacts& here, const ClockFacts& root);
