// What a dump has of a period, for replays with one thing changed: its calls, and what of ranks' time is not in them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/whatif/whatif.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

struct StoredCalls {
  TimeSpan read;  // of which they are
  std::vector<Message> messages;
  std::vector<CollectiveCall> collectives;
  bool some_left_out = false;         // the dump has not all messages of the run
  std::vector<whatif::Period> whole;  // then: where it has nearly all (whatif::whole_parts())
};
// What is under way in `around`, or, when that is too much, in `span`. Fails with not_found: still too much (3 million
// messages, some 300 bytes each while they are replayed); collectives are lacking.
// `ended` is asked now and then (may be empty): true ends the reading, with unreachable.
Result<StoredCalls> read_calls(Session& session, TimeSpan around, const TimeSpan& span,
                               const std::function<bool()>& ended = {});

// Shares of all ranks' time that a replay cannot shorten.
struct NotReplayed {
  double of_ranks = 0;          // of the period: waits for the ranks in question in one-sided calls and for files
  double files = 0, other = 0;  // of the run: one-sided calls and files; inside MPI, in calls whose waits are not known
  double worst = 0;             // `other` of `worst_rank`'s own time: that rank may hold up all others as long
  std::int32_t worst_rank = 0;
};
// `ranks`: those in question; empty: all.
NotReplayed not_replayed(const StoredCalls& stored, const TimeSpan& span, std::span<const std::int32_t> ranks,
                         const Snapshot& run);
// Is more of the waiting outside of what is replayed than the replay would save? Then its result tells nothing.
Status is_told(const WhatIf& w, const NotReplayed& n, std::span<const std::int32_t> ranks);

// Leaves what is replayed, and cuts the period to it. Fails with not_found: there is nothing.
Status cut_to_calls(TimeSpan& span, StoredCalls& calls);
// `node_of_rank`: as `change` numbers nodes.
Result<WhatIf> replay_stored(std::int32_t ranks, std::span<const std::int32_t> node_of_rank, const StoredCalls& calls,
                             const TimeSpan& span, const whatif::Change& change);

}  // namespace pclscope::session
