// How rows of the clustered timeline, its tree and its focus ranks are drawn.
#pragma once

#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/cluster_picture.hpp"

namespace pclscope::gui {

// Steps of a phase from left to right.
struct StepAxis {
  float left = 0, right = 1;  // pixels
  double first = 0, end = 1;  // steps in sight
  float step_width() const { return static_cast<float>((right - left) / (end - first)); }
  double step(float x) const { return first + static_cast<double>((x - left) / (right - left)) * (end - first); }
  float x(double step) const { return left + static_cast<float>((step - first) * (right - left) / (end - first)); }
};

struct ClusterPaint {
  const Scene& scene;
  const layout::ClusterPicture& picture;
  StepAxis axis;
  layout::Rgba colour(float mean_ns) const;
};

// A row: per step sends from the top, receives from the bottom, lines out and in. `faded`: another one is selected.
void draw_cluster_row(const ClusterPaint& paint, const layout::ClusterRow& row, layout::Rect at, bool faded);
// A rank's own events, and its messages: lines between focus ranks, stubs towards others.
void draw_focus_ranks(const ClusterPaint& paint, layout::Rect at, float names_width);

struct TreeMark {
  std::uint32_t node = 0;
  layout::Point at;
  bool open = false;
};
// The tree left of the rows, whose middles are `y`; returns where nodes with children can be clicked.
std::vector<TreeMark> draw_tree(const ClusterPaint& paint, const std::vector<std::uint32_t>& open,
                                const std::vector<float>& y, layout::Rect at);

}  // namespace pclscope::gui
