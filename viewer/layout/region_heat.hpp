// The evolution view of more regions than there is room for rows (PCLVis 5.1): a map with the regions from the top, in
// the order of the rows, time across, and the ratio as colour. A pixel is the mean L over the messages in its time,
// where those of a window are spread evenly over it; if its row stands for several regions, that of the largest mean.
// A pixel without messages is clear. Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"
#include "viewer/layout/time_axis.hpp"
#include "viewer/session/history.hpp"

namespace pclscope::layout {

// What pixels stand for.
struct HeatSheet {
  std::shared_ptr<const session::History> history;
  std::vector<std::int32_t> order;  // regions from the top
  TimeAxis axis;
  double low = 0, high = 1;   // places of the left and the right edge
  int width = 0, height = 0;  // pixels; what is not from 1 to 8192 gives an empty map
  bool sound() const;
  double second(int x) const;  // of a pixel's left edge
};

// Part of a list: [first, end).
struct HeatPart {
  std::size_t first = 0, end = 0;
  bool operator==(const HeatPart&) const = default;
};
// Indices in `order` that the pixel row `y` stands for: never none.
HeatPart regions_of_row(const HeatSheet& sheet, int y);
// Pixel rows that show the region at `index` of `order`: never none.
HeatPart rows_of_region(const HeatSheet& sheet, std::size_t index);

struct HeatCell {
  std::size_t index = 0;          // in `order`: the region whose mean it is; the first of the row without messages
  double ratio = 0;               // 0: no messages
  double messages = 0;            // of that region, in the pixel's time
  double begin_s = 0, end_s = 0;  // of its windows that reach into the pixel; the pixel's own without messages
};
HeatCell heat_cell(const HeatSheet& sheet, int x, int y);

struct RegionHeat {
  HeatSheet sheet;
  Image image;                   // width * height; empty when there is nothing to show
  std::size_t coloured = 0;      // pixels with messages
  int worst_x = 0, worst_y = 0;  // the pixel with the largest ratio, the first of several
};
RegionHeat region_heat(HeatSheet sheet, const Palette& palette);

}  // namespace pclscope::layout
