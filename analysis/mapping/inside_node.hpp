// Which core of its node a rank should run on (docs/mapping.md, "Inside a node"): for each node the search of
// mapping.hpp, on the tree of what the machine is made of. What is sent between nodes does not depend on it, so it
// comes after the choice of nodes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/machine/places.hpp"
#include "analysis/mapping/slot.hpp"
#include "analysis/mapping/topology.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

// The cores of a machine as a network: its nodes are the cores, in hwloc's order; the routers what holds several of
// them. Hops between cores are twice the levels (L2, L3, NUMA domain, package, machine) up to the first that holds
// both; a level counts where some part of it holds several parts of the next.
Result<Topology> core_tree(const Machine& machine);

struct InsideProblem {
  const Traffic& traffic;                  // of all ranks
  std::vector<std::int32_t> node_of_rank;  // where they shall run
  std::vector<const Machine*> machines;    // by node; null: not known
  std::vector<machine::Place> now;         // by rank, where they are; empty: not known
  double effort = 1;
};

struct InsideMapping {
  std::vector<Slot> slot_of_rank;  // empty: of no node is the machine known
  // Sum over nodes of bytes x hops in core_tree(). `before` counts a rank that may use several cores at the first that
  // is free; of nodes whose ranks are not bound, or share cores although others are free, it is that of ranks in order.
  double before = 0, after = 0;
  bool bound_now = true;           // before is that of now, on all nodes
  std::vector<std::string> notes;  // a line each
};

// `names`: of the nodes, for notes.
Result<InsideMapping> place_inside(const InsideProblem& problem, const std::vector<std::string>& names);

}  // namespace pclscope::mapping
