// Ranks inside the disc of their region. Only for spatial_layout.cpp and its tests.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "viewer/layout/spatial_layout.hpp"

namespace pclscope::layout {

// Of the disc of a region with so many ranks, in radii of a rank.
float disc_radius(std::size_t ranks);

// `ranks` ascending; `talk` between them by index (may be empty); `before` may be null. Sets ranks, radius and talk of
// the region. A rank that was there before keeps its place as long as its kind of place (ring, spiral, forces) is the
// same. `steps` of the forces: a budget.
void place_ranks(PlacedRegion& region, const std::vector<std::int32_t>& ranks, std::span<const Spring> talk,
                 const PlacedRegion* before, int steps, const Stopping& stopping);

}  // namespace pclscope::layout
