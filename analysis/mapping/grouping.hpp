// Two steps for nodes that take several ranks: who shares a node, then which node each group gets.
#pragma once

#include "analysis/mapping/instance.hpp"

namespace pclscope::mapping {

// Every site takes the same number of ranks, more than one, and distances differ: else one step does.
bool groups_help(const Instance& instance);
// The same sites and ranks, all sites equally far: its best placement groups the ranks.
Instance make_uniform(const Instance& instance);
// The groups as ranks of a problem of their own, one for each site.
Instance make_group_instance(const Instance& instance, const Placement& grouping);

}  // namespace pclscope::mapping
