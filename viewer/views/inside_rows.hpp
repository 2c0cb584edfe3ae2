// How much time ranks spent inside which MPI function, and what they were inside when a run stopped.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

session::Json function_json(const FunctionActivity& function);
session::Json inside_json(const RankSummary& rank, const Sites& sites);
session::Json deadlock_json(const Deadlock& deadlock, const Sites& sites);

// `ascii` and the width (0 = no limit) of the page.
std::vector<std::string> function_lines(const Snapshot& snapshot, std::size_t width, bool ascii);
// Ranks that were inside a call, longest first; nothing for a run that ended in order.
std::vector<RankSummary> ranks_inside(const Snapshot& snapshot);
std::vector<std::string> inside_lines(const std::vector<RankSummary>& ranks, const Sites& sites, std::size_t width);
std::vector<std::string> deadlock_lines(const std::vector<Deadlock>& deadlocks, const Sites& sites);

}  // namespace pclscope::views
