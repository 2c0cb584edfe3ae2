// The newest single calls of a running job, in the place of those that a dump has.
#pragma once

#include <string>
#include <vector>

#include "viewer/inspect/run.hpp"

namespace pclscope::commands {

struct NewestOfJob {
  std::vector<MpiCall> running;  // have not returned
  std::string words;             // what there is, and what is missing
};

// Listens to the job for two seconds; the run's session has its calls afterwards, without messages and collectives.
// Fails as Session::newest_calls().
Result<NewestOfJob> listen_to_calls(InspectedRun& run);

}  // namespace pclscope::commands
