// The anchor: the process that holds the tool's rank in MPI_COMM_WORLD. It does nearly nothing, so that nearly nothing
// can kill it: a launcher ends the whole job when a rank dies. The analysis runs in its child, the worker.
#pragma once

#include "analysis/aggregator/options.hpp"

namespace pclscope::aggregator {

// Starts the worker, waits for the application to enter MPI_Init, joins it, waits for it to enter MPI_Finalize,
// joins that too, and waits for the worker. Returns the exit status.
int run_anchor(const Options& options, char** argv);

}  // namespace pclscope::aggregator
