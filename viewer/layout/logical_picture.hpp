// The logical timeline (after Ravel): steps from left to right, ranks downwards, a box for each event, its colour a
// metric. Where a pixel stands for several boxes it shows the largest, so that few late ranks stay visible.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "viewer/layout/line_image.hpp"
#include "viewer/layout/palette.hpp"
#include "viewer/session/logical_run.hpp"

namespace pclscope::layout {

// Which part of steps and ranks lies on an image of that size.
struct LogicalSight {
  double step0 = 0, step1 = 1;  // left edge, right edge
  double rank0 = 0, rank1 = 1;  // upper edge, lower edge
  int width = 1, height = 1;
  bool operator==(const LogicalSight&) const = default;
  double step_width() const { return width / (step1 - step0); }  // pixels
  double rank_height() const { return height / (rank1 - rank0); }
  float x(double step) const { return static_cast<float>((step - step0) * step_width()); }
  float y(double rank) const { return static_cast<float>((rank - rank0) * rank_height()); }
  double step(float x) const { return step0 + x / step_width(); }
  double rank(float y) const { return rank0 + y / rank_height(); }
};

// Of each pixel the largest metric (ns, or bytes) of the boxes that it shows; negative: none. Rows from the top.
struct LogicalPixels {
  std::vector<float> largest;
  std::uint64_t boxes = 0;  // in sight
  float most = 0;           // of them
  // The box that has it.
  std::uint32_t phase = logical::none, box = logical::none;
  // Where it begins: of the boxes with at least half as much the one with the least step, of several the largest.
  // None: nobody is late.
  std::uint32_t first_phase = logical::none, first_box = logical::none;
};
LogicalPixels logical_pixels(const session::LogicalRun& run, const LogicalSight& sight, logical::Metric metric,
                             const std::function<bool()>& stopping = {});

struct LogicalImageRequest {
  std::shared_ptr<const session::LogicalRun> run;
  LogicalSight sight;
  logical::Metric metric = logical::Metric::lateness;
  bool messages = true;  // lines, as long as they can be told apart
  const Palette* palette = nullptr;
  std::shared_ptr<const session::LogicalRun> beside = nullptr;  // what is drawn with the same scale; null: nothing
  bool operator==(const LogicalImageRequest&) const = default;
};

struct LogicalImage {
  LogicalImageRequest of;
  Image image;
  LogicalPixels pixels;               // without `largest`
  float scale = 0;                    // its end, ns: the largest value in sight, of both runs
  std::vector<std::uint32_t> phases;  // in sight
  std::vector<std::uint32_t> named;   // of these, of many the first that begins in a pixel
  std::size_t lines = 0;              // messages that are drawn
  std::size_t lines_left_out = 0;     // too many to be told apart
};
// When `stopping`, there is no image.
LogicalImage draw_logical(const LogicalImageRequest& request, const std::function<bool()>& stopping);

// The colour of a value, `most` being the end of the scale.
Rgba metric_colour(const Palette& palette, double value, double most);

// Bars of a step each, or of several: the largest of them. `bars` of about equal width over [first, end) of the steps.
std::vector<float> overview_bars(const session::LogicalRun& run, logical::Metric metric, double first, double end,
                                 int bars);

}  // namespace pclscope::layout
