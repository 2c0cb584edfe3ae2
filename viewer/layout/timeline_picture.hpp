// The rank timeline as pixels: time from left to right, ranks downwards; the colour of a pixel is that of the function
// with most time in it, the less of it, the paler; time outside MPI is grey, what was not stored is background.
// Where a pixel row stands for several ranks it shows, pixel by pixel, the rank whose share of time inside MPI differs
// most from their mean: one late rank among many that wait for it stays visible, and so does one that waits alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"
#include "viewer/session/timeline_run.hpp"

namespace pclscope::layout {

// Which part of time and ranks lies on an image of that size.
struct TimelineSight {
  double time0 = 0, time1 = 1;  // ns; left edge, right edge
  double rank0 = 0, rank1 = 1;  // upper edge, lower edge
  int width = 1, height = 1;
  bool operator==(const TimelineSight&) const = default;
  double ns_per_pixel() const { return (time1 - time0) / width; }
  double rank_height() const { return height / (rank1 - rank0); }  // pixels
  float x(double ns) const { return static_cast<float>((ns - time0) / ns_per_pixel()); }
  float y(double rank) const { return static_cast<float>((rank - rank0) * rank_height()); }
  double time(float x) const { return time0 + x * ns_per_pixel(); }
  double rank(float y) const { return rank0 + y / rank_height(); }
};

struct TimelinePixel {
  static constexpr std::uint16_t none = 0xffff;
  std::uint16_t function = none;  // with most time in it; none: no call
  float share = 0;                // of the pixel's time, that function's
  float inside = 0;               // all functions'
  float known = 0;                // with the time outside MPI
  float waiting = 0;              // for other ranks
  std::int32_t rank = -1;         // whose it is; -1: of no rank
};

// One rank's pixels, from left to right. With several threads: shares of the time of all of them.
void timeline_row(const session::TimelineRun& run, const TimelineSight& sight, std::int32_t rank,
                  std::span<TimelinePixel> to);
// All, rows from the top; empty when `stopping`.
std::vector<TimelinePixel> timeline_pixels(const session::TimelineRun& run, const TimelineSight& sight,
                                           const std::function<bool()>& stopping = {});

struct TimelineImageRequest {
  std::shared_ptr<const session::TimelineRun> run;
  TimelineSight sight;
  bool messages = true;  // lines, as long as they can be told apart
  bool path = true;
  const Palette* palette = nullptr;
  bool operator==(const TimelineImageRequest&) const = default;
};

struct TimelineImage {
  TimelineImageRequest of;
  Image image;
  std::vector<std::pair<std::uint16_t, double>> functions;  // in sight, by pixels that have their colour, most first
  std::size_t coloured = 0;                                 // pixels with a function
  std::size_t lines = 0;                                    // messages that are drawn
  std::size_t lines_left_out = 0;                           // too many to be told apart
};
// When `stopping`, there is no image.
TimelineImage draw_timeline(const TimelineImageRequest& request, const std::function<bool()>& stopping);

}  // namespace pclscope::layout
