// The dependency graph of a region in a period from stored messages.
#pragma once

#include "viewer/session/session.hpp"

namespace pclscope::session {

// `snapshot`: the run's summary (regions, nodes, criteria). Memory: the question's most_messages, the earliest ones.
Result<Dag> stored_dag(Session& session, const Snapshot& snapshot, DagQuestion question);

}  // namespace pclscope::session
