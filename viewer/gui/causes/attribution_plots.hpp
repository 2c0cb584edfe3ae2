// The attribution view's plots over time: messages inside and between nodes with a pie of all, load balance, transfer
// times by size. They share one time axis, which the wheel zooms; dragging selects a period.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/gui/causes/attribution_panel.hpp"
#include "viewer/gui/causes/attribution_transfer.hpp"

namespace pclscope::gui {

class AttributionPlots {
 public:
  // In the current window of ImGui. `hinted` is a period to be shown faintly (of a finding under the mouse).
  void draw(const Scene& scene, Selection& selection, const layout::Rect& area,
            const std::optional<SelectedPeriod>& hinted);
  std::vector<Mark> marks() const;
  std::vector<ViewAxis> axes() const;
  bool unsettled() const { return transfer_.unsettled(); }

 private:
  void look_at(const Scene& scene);
  void react(const PlotPanel& panel, const char* id, Selection& selection, float scale);
  void zoom(const layout::Plot& plot);
  void draw_panel(std::size_t which, const Scene& scene, Selection& selection, PlotPanel panel);
  void draw_marks_on(const PlotPanel& panel, const Selection& selection,
                     const std::optional<SelectedPeriod>& hinted) const;

  std::shared_ptr<const Snapshot> seen_;
  std::vector<layout::UsableSlice> slices_;  // of seen_
  std::optional<layout::TimeRange> all_;
  std::optional<layout::TimeRange> shown_;  // zoomed in; none: all
  std::optional<double> drag_from_s_;
  std::optional<double> pointed_s_;      // moment under the mouse, in any plot
  std::array<layout::Rect, 3> areas_{};  // as last drawn
  TransferPlot transfer_;
};

}  // namespace pclscope::gui
