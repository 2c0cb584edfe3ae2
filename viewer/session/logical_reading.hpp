// Logical time of a stored run, phase by phase as they are over, so that nobody has to keep all of it. Functions.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/logical/logical_time.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

inline constexpr std::uint32_t most_sites = 1u << 20;  // more than a job can have: of damaged dumps

// For each id of a site the least one of those that are the same line, called from the same place.
std::vector<std::uint32_t> same_lines(const std::vector<CallSite>& sites);

// Reads messages and collectives that are stored, in pieces of time with about `messages_at_once` each. `take` gets
// the phases that are over, each once, up to when messages were read, and the share of the part that was; it returns
// false to stop.
using TakePhases = std::function<bool(const logical::LogicalTime& time, std::int64_t before_ns, double progress)>;
Status read_logical_time(Session& session, const Snapshot& snapshot, const TakePhases& take,
                         std::uint64_t messages_at_once = 400'000, const TimeSpan& part = {});

}  // namespace pclscope::session
