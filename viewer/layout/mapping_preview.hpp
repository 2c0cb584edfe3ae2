// What a better placement of ranks would change: messages inside and between nodes, before and after (PCLVis, Figures
// 1e, 12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::layout {

struct MappingSide {
  std::uint64_t intra = 0;  // messages inside nodes
  std::uint64_t inter = 0;  // between nodes
  // Messages from node (row) to node (column), in `groups` x `groups` cells: one node each, or neighbours together.
  std::vector<std::uint64_t> matrix;
};

struct MappingPreview {
  MappingSide before, after;
  std::int32_t groups = 0;  // 0: no matrix
  std::int32_t nodes_per_group = 1;
  std::size_t moved = 0;  // ranks
  std::string problem;    // why there is nothing to show, one line; empty
};

// Looks for a placement with the snapshot's traffic, as many ranks per node as now: up to seconds for thousands of
// ranks, so not in the thread that draws. Needs Snapshot::traffic (a dump has it, a live snapshot does not).
MappingPreview preview_mapping(const Snapshot& snapshot);

// The numbers alone, from the sentence of a mapping finding that has them. Nothing when no sentence does.
std::optional<MappingPreview> told_mapping(const Finding& finding, const Attribution& attribution);

}  // namespace pclscope::layout
