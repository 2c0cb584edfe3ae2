// What a dump has of a period, for replays with one thing changed: its calls, and what of ranks' time is not in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/whatif/whatif.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::commands {

struct StoredCalls {
  session::TimeSpan read;  // of which they are
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
};
// What is under way in `around`, or, when that is too much, in `span`. Fails with not_found: still too much (3 million
// messages, some 300 bytes each while they are replayed); collectives are lacking.
Result<StoredCalls> read_calls(session::Session& session, session::TimeSpan around, const session::TimeSpan& span);

// Shares of all ranks' time that a replay cannot shorten.
struct NotReplayed {
  double of_ranks = 0;          // of the period: waits for the ranks in question in one-sided calls and for files
  double files = 0, other = 0;  // of the run: one-sided calls and files; inside MPI, in calls whose waits are not known
  double worst = 0;             // `other` of `worst_rank`'s own time: that rank may hold up all others as long
  std::int32_t worst_rank = 0;
};
// `ranks`: those in question; empty: all.
NotReplayed not_replayed(const StoredCalls& stored, const session::TimeSpan& span, std::span<const std::int32_t> ranks,
                         const Snapshot& run);
// Is more of the waiting outside of what is replayed than the replay would save? Then its result tells nothing.
Status is_told(const WhatIf& w, const NotReplayed& n, std::span<const std::int32_t> ranks);

// Leaves what is replayed, and cuts the period to it. Fails with not_found: there is nothing.
Status cut_to_calls(session::TimeSpan& span, StoredCalls& calls);
Result<WhatIf> replay_stored(session::Session& session, const Application& application, const StoredCalls& calls,
                             const session::TimeSpan& span, const whatif::Change& change);

}  // namespace pclscope::commands
