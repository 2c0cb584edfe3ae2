// Wait states, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// Those of sends and receives (sums over ranks), then the snapshot's, most time first.
std::vector<WaitStateSum> wait_states_of(const Snapshot& snapshot);

session::Json wait_state_json(const WaitStateSum& row, const Sites& sites);
Rows wait_state_rows(const std::vector<WaitStateSum>& rows, const Sites& sites);
std::vector<std::string> wait_state_lines(const std::vector<WaitStateSum>& rows, const Sites& sites, std::size_t width);

}  // namespace pclscope::views
