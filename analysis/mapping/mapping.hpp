// Which rank should run on which node: a quadratic assignment with exact capacities (docs/mapping.md). Scotch gives a
// start, our own search goes on from there and from the current mapping. Deterministic for the same input and effort.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/mapping/topology.hpp"
#include "analysis/mapping/traffic.hpp"
#include "analysis/values/link_times.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

enum class Objective : std::uint8_t {
  hop_bytes,       // sum of bytes x hops (reference §8)
  inter_bytes,     // bytes between nodes
  inter_messages,  // messages between nodes
  max_link_load,   // bytes over the most loaded link
  time,            // sum over messages of what they take (MappingProblem::times)
};

struct MappingCost {
  double hop_bytes = 0;
  double inter_bytes = 0;
  std::uint64_t inter_messages = 0;
  double max_link_load = 0;  // bytes over the most loaded directed link, on Topology::route()s
  double time_s = 0;         // of all messages together, whoever waits for them; 0 without times
};
double value_of(const MappingCost& cost, Objective objective);

struct MappingProblem {
  const Traffic& traffic;
  const Topology& topology;
  std::vector<std::int32_t> capacity;  // ranks that each node may take; size nodes(), sum >= traffic.ranks
  std::vector<std::int32_t> current;   // node of each rank, within the capacities; empty: in order, node by node
  Objective objective = Objective::hop_bytes;
  double effort = 1;  // 1: seconds for thousands of ranks; 0.1: live
  bool links = true;  // max_link_load is wanted
  LinkTimes times = {};
  // Asked every millisecond or so, in the thread that searches: true ends the search, and the best so far is given.
  // Empty: nobody ends it.
  std::function<bool()> ended = {};
};

struct Mapping {
  std::vector<std::int32_t> node_of_rank;
  MappingCost before, after;  // after.objective is never worse than before's
  std::vector<std::int32_t> node_before;
};

// Without max_link_load where it would cost too much: `links` false.
MappingCost cost_of(const Traffic& traffic, const Topology& topology, const std::vector<std::int32_t>& node_of_rank,
                    bool links = true, const LinkTimes& times = {});
// Errors: more ranks than slots, ranks of the traffic out of range, a current mapping that does not fit.
Result<Mapping> find_mapping(const MappingProblem& problem);

}  // namespace pclscope::mapping
