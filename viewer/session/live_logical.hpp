// Logical time of a running job's newest messages, from what it answers anyhow: the dependency graph of all ranks has
// each message with its calls. Functions.
#pragma once

#include <vector>

#include "viewer/session/logical_run.hpp"

namespace pclscope::session {

// The messages of a graph that is not folded, in any order; without collectives, call sites and communicators.
std::vector<Message> messages_of(const Dag& dag);

// How long a period to ask for, so that about `messages` come, at least a window: `rate` per second.
double live_period_s(double rate, double window_s, double messages = 12'000);

// Of the messages of the newest `length_s` before `now_s`.
Result<LogicalRun> newest_logical(Session& session, std::int32_t ranks, double now_s, double length_s);

}  // namespace pclscope::session
