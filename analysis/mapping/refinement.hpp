// From several starts to one good placement: what is tried, in which order, and with how much work (docs/mapping.md).
#pragma once

#include "analysis/mapping/instance.hpp"
#include "analysis/mapping/topology.hpp"

namespace pclscope::mapping {

// Never worse than `current`.
Placement refine(const Instance& instance, const Topology& topology, const Placement& current, double effort);

}  // namespace pclscope::mapping
