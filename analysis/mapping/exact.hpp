// The best placement of a few ranks, by looking at all of them (branch and bound).
#pragma once

#include "analysis/mapping/instance.hpp"

namespace pclscope::mapping {

inline constexpr std::int32_t most_ranks_for_exact = 9;

// Makes `placement` the best one. False: there are too many to look at, the best of those seen is kept.
bool find_best_of_all(const Instance& instance, Placement& placement);

}  // namespace pclscope::mapping
