// What a dump says of calls that could wait, for questions about delays and the critical path.
#pragma once

#include <string>
#include <vector>

#include "analysis/delay/critical_path.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "viewer/inspect/run.hpp"

namespace pclscope::commands {

struct StoredCalls {
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
  std::string why_partial;  // empty: everything is here
};

// Of the period and a minute before it: a delay is older than the waits that it causes. At most 8 million messages and
// as many collective calls (about 1.4 GB); beyond, the earliest ones.
Result<StoredCalls> read_calls(const session::TimeSpan& span, InspectedRun& run);

// Of all ranks; none: of some it is not known, or not all calls are here.
std::vector<RankLife> lives_of(const StoredCalls& calls, const Snapshot& snapshot);

}  // namespace pclscope::commands
