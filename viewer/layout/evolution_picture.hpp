// The evolution view's picture (PCLVis 5.1, Figure 6) as plain values: which regions, their circles, growth and steady
// periods, one region's curve, all on one time axis. Across in places of the axis (layout/time_axis.hpp), not in
// pixels, so that zoom and pan need no new picture at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/layout/region_heat.hpp"
#include "viewer/layout/time_axis.hpp"
#include "viewer/session/history.hpp"

namespace pclscope::layout {

struct EvolutionQuestion {
  std::shared_ptr<const session::History> history;  // null: an empty picture
  std::vector<std::int32_t> order;  // rows of the last picture, top first: regions change places only for a reason
  std::optional<std::int32_t>
      region;  // whose periods decide what is compressed, and whose curve it is; none: the worst
  bool compressed = true;
  double now_s = 0;                      // the axis reaches to here at least
  std::optional<TimeRange> visible;      // none: all
  double slot = 0.02;                    // room of a circle, as share of the visible width
  double column = 0.002;                 // of a point of the curve, likewise
  std::size_t first_row = 0, rows = 20;  // that get circles
  int heat_width = 0, heat_height = 0;   // pixels of a heat map of all regions; 0: none
  Theme theme = Theme::dark;             // of its colours
  bool operator==(const EvolutionQuestion&) const = default;
};

struct EvolutionCircle {
  double place = 0;               // of its middle
  double begin_s = 0, end_s = 0;  // of the windows in it
  float ratio = 0;                // mean L over its messages
  float rate = 0;                 // delayed messages per second of windows with messages
  float size = 0;                 // radius as share of the largest: the area goes with the rate
  std::uint64_t messages = 0, delayed = 0;
};

struct EvolutionRow {
  std::int32_t region = 0;
  double average = 0;                    // Ave_region
  std::vector<EvolutionCircle> circles;  // ascending
  std::vector<Period> periods;           // growth and steady, visible ones
};

struct CurvePoint {
  double place = 0;
  float ratio = 0;
  bool apart = false;  // after a silence: not joined to the one before
};

struct EvolutionPicture {
  TimeAxis axis;
  bool nothing_to_compress = false;  // asked for compressed, but there is no growth or steady period
  std::vector<std::int32_t> order;   // all regions, the worst first
  std::size_t first_row = 0;         // of `rows` in `order`
  std::vector<EvolutionRow> rows;
  std::optional<std::int32_t> region;  // of the curve; none without regions
  double average = 0;
  std::vector<Period> periods;              // all of that region, `other` too
  std::vector<CurvePoint> curve;            // visible part
  std::vector<CurvePoint> overview;         // the whole, coarse
  float highest = 0, overview_highest = 0;  // ratios
  float largest_rate = 0;                   // of a circle of size 1
  RegionHeat heat;                          // of the visible part, if it was asked for
};

EvolutionPicture evolution_picture(const EvolutionQuestion& question);

// Regions, the worst first: by the highest mean of their growth and steady periods, or by their average. Those of
// `before` keep their places unless one is worse by a quarter than the one above it.
std::vector<std::int32_t> evolution_order(const session::History& history, const std::vector<std::int32_t>& before);

}  // namespace pclscope::layout
