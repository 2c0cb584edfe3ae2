// Logical time of a running job's newest messages, from what it answers anyhow: the dependency graph of all ranks has
// each message with its calls. Functions.
#pragma once

#include <vector>

#include "viewer/session/logical_run.hpp"

namespace pclscope::session {

// The messages of a graph that is not folded, in any order; without communicators.
std::vector<Message> messages_of(const Dag& dag);

// Of a job, per second: between the snapshots that it was shown, at first since the job began.
class MessageRate {
 public:
  double look(const Snapshot& snapshot);

 private:
  std::uint64_t matched_ = 0;
  double at_s_ = 0, rate_ = 0;
};

// How long a period to ask for, so that about `messages` come, at least a window: `rate` per second.
double live_period_s(double rate, double window_s, double messages = 12'000);

// Of the messages of the newest `length_s` before `now_s`, without the phases that its ends may have cut (first or last
// ones of all their ranks) unless there are no others; the snapshot says how many ranks there are, and which call
// sites are the same line.
Result<logical::LogicalTime> newest_logical_time(Session& session, const Snapshot& snapshot, double now_s,
                                                 double length_s);
Result<LogicalRun> newest_logical(Session& session, const Snapshot& snapshot, double now_s, double length_s);

}  // namespace pclscope::session
