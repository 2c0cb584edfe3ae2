// What acted several times is one finding: one row for a cause, its ranks and its place in the code, with the periods
// in which it acted.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::attribute {

// Findings with the same cause, detail, ranks, call site and nodes become one, in the place of the first of them. Costs
// add up; it is as sure as the surest; its figures are those of the costliest period, and it says so; its region is
// theirs, if it is one. `threads`: Evidence.
std::vector<Finding> merged(std::vector<Finding> findings, double threads);

}  // namespace pclscope::attribute
