// The parts of the watch page that say what everyone is blocked in. Each at most `most` lines, title included, and as
// wide as it becomes: the page clips.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

// Ranks that are blocked alike: in the same call from the same place, waiting for the same ranks.
struct BlockedGroup {
  std::vector<std::int32_t> ranks;  // ascending
  RankSummary like;                 // the one that has been there longest
};
// Ranks that have been inside one MPI call for at least 0.1 s, the longest first. None in a run that ended in order.
std::vector<RankSummary> blocked_ranks(const Snapshot& snapshot);
std::vector<BlockedGroup> blocked_groups(const Snapshot& snapshot);

// Every deadlock in full sentences, wrapped.
std::vector<std::string> deadlock_banner(const Snapshot& snapshot, const Sites& sites, std::size_t most,
                                         const PageOptions& options);
// Per MPI function the share of ranks inside now and over time; the line "inside now: ..." where there is no history.
std::vector<std::string> function_section(const Snapshot& snapshot, std::size_t most, const PageOptions& options);
std::vector<std::string> blocked_section(const std::vector<BlockedGroup>& groups, const Sites& sites, std::size_t most);

}  // namespace pclscope::views
