// Where the time axis of a job on several nodes begins: with the first call on any of them, not with the root's.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "analysis/collect/tick_clock.hpp"

namespace pclscope::aggregator {

// Collective over `tools`, the anchors in the order of their nodes; waits for all of them. `clock`: settled, of this
// node's recorders; `first_ticks`: nothing was recorded on this node before; 0: nothing will be. Returns where this
// node's own axis is to begin. The root's is the job's: no node's `first_ticks` lies before, and the earliest lies at
// most as much later as a barrier takes, and a millisecond.
std::uint64_t agree_on_origin(MPI_Comm tools, const collect::TickClock& clock, std::uint64_t first_ticks);

}  // namespace pclscope::aggregator
