// What is said when no cause stands out: `none` only when nothing is left to explain; else `unknown`, with where the
// time went. And `blocked`, of calls that have not returned, and `file`, of time inside MPI-IO. From a whole snapshot:
// ranks' time inside MPI by its parts, functions and wait states (docs/attribution.md).
#pragma once

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

// Changes snapshot.attribution.findings. A job without any finding so far gets one. Once per snapshot. `now_s`: the
// moment of the snapshot, of which duration_s is only the newest event; ranks may be inside calls since long before.
void settle_rest(Snapshot& snapshot, double now_s = 0);

}  // namespace pclscope::attribute
