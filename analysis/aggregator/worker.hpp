// The worker: drains the rings of this node, runs the pipeline, publishes and stores. No MPI.
#pragma once

#include "analysis/aggregator/options.hpp"

namespace pclscope::aggregator {

// Runs until the anchor says so or is gone, or SIGTERM; then drains what is left and closes the dump.
int run_worker(const Options& options);

}  // namespace pclscope::aggregator
