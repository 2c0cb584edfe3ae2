// Adding reports up (merge() of two is declared in part.hpp). Time: linear in their sizes when their lists are sorted
// by their keys, as merge() leaves them, else n log n. Sums do not depend on the order but for the rounding of
// doubles.
#pragma once

#include <vector>

#include "analysis/values/part.hpp"

namespace pclscope::nodes {

// All of `more`, oldest first, n log k: what a node with many children should call instead of merge() one by one,
// which walks through the whole sum each time. `more` is empty afterwards.
void merge(Report& report, std::vector<Report>& more);

}  // namespace pclscope::nodes
