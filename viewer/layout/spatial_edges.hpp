// The lines of the region graph: links between regions and pairs of ranks, chosen and bundled. Only for
// spatial_layout.cpp.
#pragma once

#include <unordered_map>
#include <vector>

#include "viewer/layout/spatial_layout.hpp"

namespace pclscope::layout {

using RankIndex = std::unordered_map<std::int32_t, RankAt>;  // by world rank

// Snapshot::traffic among placed ranks, both directions in one, strongest first; equal ones in a mixed order, so that a
// part of them shows all places alike. Without lines.
std::vector<PlacedPair> pairs_of(const Snapshot& snapshot, const RankIndex& ranks);

// Snapshot::links between regions that are there, strongest first, without lines.
std::vector<PlacedLink> links_of(const Snapshot& snapshot, const std::vector<PlacedRegion>& regions);

// Sets the lines of layout.links and layout.pairs; takes those of `before` where nothing has moved.
void draw_lines(SpatialLayout& layout, const SpatialLayout* before, const Stopping& stopping);

}  // namespace pclscope::layout
