// Files that say on which node each rank runs: what `pclscope map` writes. A pure function of its text.
#pragma once

#include <string>
#include <string_view>

#include "viewer/launch/hosts.hpp"

namespace pclscope::launch {

// One entry with one slot for each rank, in the order of ranks. Lines "rank 3=node1 slot=0" (Open MPI; the slot is not
// looked at) or "3 node1"; '#' begins a comment. Every rank from 0 on must be there once; fails with bad_argument, the
// text names file and line.
Result<Hosts> parse_rankfile(std::string_view text, const std::string& name);

}  // namespace pclscope::launch
