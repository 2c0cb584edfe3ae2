// A run as one side of a comparison.
#pragma once

#include "viewer/inspect/run.hpp"
#include "viewer/views/comparison.hpp"

namespace pclscope::commands {

// Takes the snapshot out of the run. Fails when its windows cannot be read.
Result<views::ComparedRun> compared_run(const std::string& target, InspectedRun& run);
// The dump of an earlier run.
Result<views::ComparedRun> open_compared(const std::string& file);

}  // namespace pclscope::commands
