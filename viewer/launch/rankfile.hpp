// Files that say on which node each rank runs: what `pclscope map` writes. A pure function of its text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viewer/launch/hosts.hpp"

namespace pclscope::launch {

struct RankFile {
  Hosts hosts;         // one entry with one slot for each rank, in the order of ranks
  bool slots = false;  // it says cores, too, of at least one rank
};
// Lines "rank 3=node1 slot=0" (Open MPI; which slot is not looked at) or "3 node1"; '#' begins a comment. Every rank
// from 0 on must be there once; fails with bad_argument, the text names file and line.
Result<RankFile> parse_rankfile(std::string_view text, const std::string& name);

// What to do about slots, which `pclscope run` leaves out: Open MPI takes no rank file that has not all of a job's
// processes, and MPICH's binding is one list for all nodes. Empty: nothing, or the user binds by himself.
std::string note_on_slots(bool slots, const std::string& name, const std::vector<std::string>& launcher_args);

}  // namespace pclscope::launch
