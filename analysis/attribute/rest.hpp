// What is said when no cause stands out: `none` only when nothing is left to explain; else `unknown`, with where the
// time went. And `file`, of time inside MPI-IO. From a whole snapshot: ranks' time inside MPI by its parts, functions
// and wait states (docs/attribution.md).
#pragma once

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

// Changes snapshot.attribution.findings. A job without any finding so far gets one. Once per snapshot.
void settle_rest(Snapshot& snapshot);

}  // namespace pclscope::attribute
