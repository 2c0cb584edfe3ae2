// What the spatial view says of regions and ranks: their latency, over the whole run or in a period, and its colours.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "viewer/layout/palette.hpp"
#include "viewer/layout/spatial_layout.hpp"
#include "viewer/layout/time_range.hpp"
#include "viewer/session/history.hpp"

namespace pclscope::layout {

struct RegionValue {
  double ratio = 0;  // typical L of its messages (geometric mean; older dumps: mean); 0: no messages, or not known
  std::uint64_t messages = 0;
};

// One value per region of the layout: of the windows of `history` that touch the period, or of the whole run.
std::vector<RegionValue> region_values(const SpatialLayout& layout, const session::History* history,
                                       const std::optional<TimeRange>& period);

// Index of the region of the highest ratio; those of fewer than 10 messages only when there is no other. None: no
// messages.
std::optional<std::size_t> worst_region(const std::vector<RegionValue>& values);

// All of two regions or more that have messages are within 5 % of the latest: then none is picked.
bool latencies_alike(const std::vector<RegionValue>& values);

// "region 2 (ranks 8-11): 4.1x", the list of ranks not longer than `width` columns.
std::string region_line(const PlacedRegion& region, const RegionValue& value, std::size_t width);
// "ranks 8-11", "rank 3".
std::string ranks_line(const PlacedRegion& region, std::size_t width);

// Summary of a world rank; null when the snapshot has none.
class RankSummaries {
 public:
  explicit RankSummaries(const Snapshot& snapshot);
  const RankSummary* find(std::int32_t rank) const;

 private:
  const Snapshot* snapshot_;            // of whoever holds this
  std::vector<std::uint32_t> by_rank_;  // index + 1 in Snapshot::ranks, 0 none
};

enum class SpatialColouring { harm, latency, regions };
// What a run is shown by until the user says otherwise: by harm once a cause is found (viewer/session/harm.hpp).
SpatialColouring colouring_of(const Snapshot& snapshot);
// Harm of each region of the layout, over the whole run.
std::vector<double> region_harms(const SpatialLayout& layout);

// The ratio that is shown in the full red: 8, or where a region is worse its ratio, rounded up to 10, 15, 20, 30, 50,
// 70, 100 .. Then all may be late, and still the worst stands out.
double latency_top(const std::vector<RegionValue>& values);

// Colours of everything, in the order of the layout.
struct SpatialColours {
  double top = 8;       // of the scale of latencies
  double harm_top = 1;  // of regions' harm; ranks have a scale of their own
  std::vector<Rgba> regions;
  std::vector<std::vector<Rgba>> ranks;
  std::vector<Rgba> links;
};
// Latency: regions by their value, ranks by the typical ratio of what they received (in a period, where nothing is
// known of single ranks, by their region's), links by the typical ratio of the whole run. Harm: regions and ranks by
// the delay that they caused, always of the whole run, links grey. Regions: by identity.
SpatialColours spatial_colours(const SpatialLayout& layout, const std::vector<RegionValue>& values, bool of_period,
                               SpatialColouring colouring, const Palette& palette);

}  // namespace pclscope::layout
