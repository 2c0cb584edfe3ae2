// Whether the job's ranks could be placed on its nodes with fewer messages between them: the proof of a `mapping`
// finding.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/mapping/traffic.hpp"

namespace pclscope::attribute {

// A placement that sends fewer messages between nodes.
struct BetterMapping {
  std::uint64_t messages_before = 0, messages_after = 0;  // between nodes, of the traffic so far
  double bytes_before = 0, bytes_after = 0;
  std::vector<std::int32_t> moved;         // ranks
  std::vector<std::int32_t> node_of_rank;  // then
};

// As many ranks on each node as now (indices 0 .. nodes-1, of every rank). `flows` in any order, each pair once.
// Nothing: fewer than two nodes, a rank whose node is not known. Effort as in mapping::MappingProblem.
std::optional<BetterMapping> better_mapping(mapping::Traffic traffic, const std::vector<std::int32_t>& node_of_rank,
                                            std::int32_t nodes, double effort);

}  // namespace pclscope::attribute
