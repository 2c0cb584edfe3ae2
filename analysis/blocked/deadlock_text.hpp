// A deadlock in words, on one line.
#pragma once

#include <functional>
#include <string>

#include "analysis/values/snapshot.hpp"

namespace pclscope::blocked {

// Where a member's call stands in the source ("ring.c:42"); empty when that is not known.
using SiteText = std::function<std::string(const DeadlockMember&)>;

// "rank 0 in MPI_Recv (ring.c:42) waits for rank 1 in MPI_Recv (ring.c:42) waits for rank 0". At most `most_members`
// members are spelled out. Before them, where collectives do not match: "collectives that do not match, MPI_Bcast of
// ranks 0 and 1 (a.c:10) against MPI_Barrier of ranks 2 and 3 (a.c:12): ".
std::string deadlock_text(const Deadlock& deadlock, const SiteText& site_text, std::size_t most_members = 8);

// "rank 3", "ranks 1 and 2", "any of ranks 0, 1 and 2", "ranks 0, 1 and 62 more".
std::string waits_text(const std::vector<std::int32_t>& ranks, bool any);

// The same of a blocked rank; where nobody is known, what else the call may be at: "a message on its way", "the file".
std::string waits_text(const RankSummary& rank);

}  // namespace pclscope::blocked
