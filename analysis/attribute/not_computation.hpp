// What lies between two sends, receives or collectives is called computation, as nobody can see what a program does
// there. But a rank whose main thread was asleep outside MPI meanwhile did not compute: it waited for a file, a timer,
// a lock or another program; nor did one that read or wrote files by MPI alone.
#pragma once

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

// Of the time outside MPI in which the rank was observed (CoreTimes), the share it was asleep at least: all of the time
// that it ran is taken for computation, though MPI runs while it waits. 0: less than 50 ms were observed, or nothing is
// known.
double asleep_outside_mpi(const RankSummary& rank);

// Adds to the findings about what ranks computed, as evidence and advice, that they slept for most of their time
// outside MPI, or were in MPI-IO for half of what each of the others waited.
void tell_not_computed(Snapshot& snapshot);

}  // namespace pclscope::attribute
