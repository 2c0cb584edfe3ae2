// Phases and steps by their definitions (docs/methods.md, "Logical time"), as slowly as one likes.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::test {

struct ReferencePhase {
  std::vector<std::uint32_t> events;  // ascending
  std::vector<std::uint32_t> steps;   // of them, from 0
};

// Of the events of `time`, by their ranks, sites and ties alone. Steps are left out where they contradict each other.
std::vector<ReferencePhase> reference_phases(const logical::LogicalTime& time);

}  // namespace pclscope::test
