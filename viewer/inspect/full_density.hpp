// The density of calls of a running job, which its snapshots have in a coarse form only.
#pragma once

#include "viewer/inspect/run.hpp"

namespace pclscope::commands {

// Asks a running job for it, and puts it into the snapshot. When it does not tell, the coarse form stays.
void ask_full_density(InspectedRun& run);

}  // namespace pclscope::commands
