// Who waits for whom, and who of them waits for ever. Plain graphs: how they come from MPI calls is rank_waits.hpp's
// business.
//
// A rank that has no waiter may go on at any moment. A waiter is released when each set it needs has a member that may
// go on (AND over sets, OR within a set); it then may go on itself. What is left when no more can be released is stuck.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope::blocked {

// One blocked thread. A rank with several is stuck when all of them are.
struct Waiter {
  std::int32_t rank = 0;
  std::vector<std::uint32_t> needs;  // indices into WaitGraph::sets; none: it may go on
};

struct WaitGraph {
  std::int32_t ranks = 0;
  std::vector<char> finished;                   // by rank: has left MPI, releases nobody
  std::vector<std::vector<std::int32_t>> sets;  // shared by waiters; ascending
  std::vector<Waiter> waiters;
};

// Ranks that wait for each other and for nobody else.
struct Knot {
  bool on_finished = false;         // no cycle: each of them waits for ranks that have left MPI
  std::vector<std::int32_t> ranks;  // in the order of the cycle from the lowest; ascending where there is none
};

// Which waiters can never be released, by index into `waiters`.
std::vector<char> stuck_waiters(const WaitGraph& graph);

// The knots among the stuck ranks. Ranks that only wait for a knot are in none. Ranks that wait for finished ones
// directly share one knot. Linear in the sizes of sets and needs, unless knots nest.
std::vector<Knot> find_knots(const WaitGraph& graph);

}  // namespace pclscope::blocked
