// The region graph: where regions, ranks and links lie in the spatial view. One unit of length is the radius of a
// rank's dot.
//
// Each region has a disc with just the room that its ranks need, whether they are shown or not: opening a region moves
// nothing. Discs are placed by force_layout with the links between regions as springs; ranks lie inside their disc,
// near those whom they talk to where the snapshot tells (Snapshot::traffic), else on a ring or an even spiral.
//
// Stable over time: `before` is where everything lay. Same structure (regions, ranks, links within a factor of two):
// same positions to the bit. A region that gains a rank only pushes those whom its disc would cover. Links that change
// move a region by half a mean diameter at most. Pure and deterministic; costs seconds for tens of thousands of ranks
// (layout/latest.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/layout/force_layout.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

struct PlacedRank {
  std::int32_t rank = 0;
  Point offset;            // from its region's middle
  std::uint32_t slot = 0;  // of the spiral or ring
  bool operator==(const PlacedRank&) const = default;
};

struct PlacedRegion {
  std::int32_t id = 0;
  std::uint32_t index = 0;  // in Snapshot::regions
  Point at;
  float radius = 1;
  std::vector<PlacedRank> ranks;  // ascending
  std::uint64_t talk = 0;         // digest of the traffic that placed the ranks; 0: placed without
};

// Between two discs, from rim to rim.
struct PlacedLink {
  std::uint32_t a = 0, b = 0;  // indices of SpatialLayout::regions
  std::uint32_t index = 0;     // in Snapshot::links
  std::vector<Point> line;
};

struct RankAt {
  std::uint32_t region = 0;  // index of SpatialLayout::regions
  std::uint32_t rank = 0;    // index of its ranks
  bool operator==(const RankAt&) const = default;
};

// Messages between two ranks, both directions.
struct PlacedPair {
  RankAt a, b;
  std::uint64_t messages = 0;
  std::vector<Point> line;
};

struct SpatialLayout {
  std::shared_ptr<const Snapshot> snapshot;                        // that the indices refer to
  std::vector<PlacedRegion> regions;                               // of different ids and ranks; at most 20,000
  std::vector<PlacedLink> links;                                   // most messages first, at most 2,000; bundled
  std::vector<PlacedPair> pairs;                                   // at most 3,000; bundled where they join two regions
  std::map<std::pair<std::int32_t, std::int32_t>, float> springs;  // by ids, as the forces used them: messages
  std::size_t ranks = 0;                                           // placed
};

using Pins = std::map<std::int32_t, Point>;  // by id: middles that the user has set

SpatialLayout spatial_layout(std::shared_ptr<const Snapshot> snapshot, const SpatialLayout* before = nullptr,
                             const Pins& pins = {}, const Stopping& stopping = {});

Rect bounds(const SpatialLayout& layout);  // of all discs; empty at the origin without any
inline Point place_of(const SpatialLayout& layout, RankAt at) {
  return layout.regions[at.region].at + layout.regions[at.region].ranks[at.rank].offset;
}

}  // namespace pclscope::layout
