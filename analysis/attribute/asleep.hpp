// Time outside MPI is called computation, as nobody can see what a program does there. But a rank whose main thread was
// asleep meanwhile did not compute: it waited for a file, a timer, a lock or another program.
#pragma once

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

// Of the time outside MPI in which the rank was observed (CoreTimes), the share it was asleep at least: all of the time
// that it ran is taken for computation, though MPI runs while it waits. 0: less than 50 ms were observed, or nothing is
// known.
double asleep_outside_mpi(const RankSummary& rank);

// Adds that to the findings about what ranks computed, when it is most of their time outside MPI: evidence and advice.
void tell_asleep(Snapshot& snapshot);

}  // namespace pclscope::attribute
