// Static mapping by the Scotch library (F. Pellegrini; dual recursive bipartitioning), as a start for our own search.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/mapping/instance.hpp"

namespace pclscope::mapping {

// `count` mappings, each the site of each rank; capacities may be exceeded (place() mends that). They differ by
// Scotch's random choices; another seed also halves a torus in another order. Fewer, or none, when Scotch could not.
// One call at a time: others wait.
std::vector<std::vector<std::int32_t>> scotch_starts(const Instance& instance, const Topology& topology,
                                                     std::uint64_t seed, int count);

}  // namespace pclscope::mapping
