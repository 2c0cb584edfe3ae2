// The protocols that are explored: small programs of a few messages, with what must come of every schedule.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/explore/world.hpp"

namespace explore {

struct Program {
  int rank;
  std::function<void(const Calls&)> run;
};

struct Scenario {
  std::string name;
  std::string what;
  std::vector<RankKind> ranks;
  std::vector<Program> programs;  // the first of a rank is its thread that calls MPI_Init and MPI_Finalize
  std::uint64_t ring_events = 64;
  std::uint64_t ring_limit = 0;  // as far as it grows
  bool attachable = false;
  bool killed = false;  // the first aggregator is killed at each of its steps in turn, a second one attaches
  bool exact = true;    // whatever has both its events in the rings is paired, else perhaps ambiguous
  int deviations = 2;   // up to so many are explored to the end in the check
};

const std::vector<Scenario>& scenarios();

}  // namespace explore
