// The run that a word after a command means, with its newest summary.
#pragma once

#include <string>

#include "analysis/values/result.hpp"
#include "viewer/inspect/run.hpp"

namespace pclscope::commands {

// A dump, or a running job, which has 2 s to answer. With `lines` those lines of the source that a dump lacks are
// looked up, for 10 s at most.
Result<InspectedRun> open_inspected(const std::string& target, bool lines);

}  // namespace pclscope::commands
