// Wait states, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/session.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// Those of sends and receives (sums over ranks), then the snapshot's, most time first.
std::vector<WaitStateSum> wait_states_of(const Snapshot& snapshot);

// The same from stored calls: of those that returned in `span`, and of threads of `ranks` (ascending; empty: all) that
// waited in them.
Result<std::vector<WaitStateSum>> stored_wait_states(session::Session& session, const Snapshot& snapshot,
                                                     const std::vector<std::int32_t>& ranks, session::TimeSpan span);

session::Json wait_state_json(const WaitStateSum& row, const Sites& sites);
Rows wait_state_rows(const std::vector<WaitStateSum>& rows, const Sites& sites);
std::vector<std::string> wait_state_lines(const std::vector<WaitStateSum>& rows, const Sites& sites, std::size_t width);

}  // namespace pclscope::views
