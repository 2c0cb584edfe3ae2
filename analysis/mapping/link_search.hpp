// Placements whose most loaded link carries little, on the routes of the topology (Topology::route). Deterministic.
#pragma once

#include "analysis/mapping/instance.hpp"
#include "analysis/mapping/link_load.hpp"

namespace pclscope::mapping {

// Of few ranks by trying all, as find_best_of_all(); false: too many steps, the best so far.
bool find_lightest_of_all(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph,
                          Placement& placement);

// From `placement` on: annealing of the sum of the eighth powers of all loads, which the heaviest ones decide, then
// exchanges of ranks that use the heaviest link. Never ends with a heavier one.
void lighten_links(const Instance& instance, const MappingProblem& problem, const LinkGraph& graph,
                   Placement& placement, double effort);

}  // namespace pclscope::mapping
