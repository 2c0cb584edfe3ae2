// What a record lacks, in a sentence.
#pragma once

#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

// "ranks 3,5 are missing from 02:13 on (the job or its aggregator was ended)"; empty when no rank is said to be
// missing, and the job ended in order. `closed`: whoever wrote it closed it; false: it was cut off or still goes on. Of
// a job that was ended also who seems to have ended it: called MPI_Abort, left without MPI_Finalize, or was outside MPI
// while all others were inside.
std::string missing_text(const Snapshot& snapshot, bool closed);

}  // namespace pclscope::views
