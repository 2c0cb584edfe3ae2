// Transfer times between nodes over time, one line per size, each over its own usual time (PCLVis, Figure 10c). Up to
// 16 lines of 256 slices are drawn into an image in a thread of its own; the line under the mouse is drawn afresh.
#pragma once

#include <memory>

#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/causes/attribution_panel.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/line_image.hpp"

namespace pclscope::gui {

// Whether there is any line to be drawn.
bool has_transfers(const Attribution& attribution, const std::vector<layout::UsableSlice>& slices);

class TransferPlot {
 public:
  void draw(PlotPanel& panel, const Scene& scene);
  bool unsettled() const { return worker_ && worker_->busy(); }

 private:
  struct Request {
    std::shared_ptr<const Snapshot> snapshot;
    layout::Plot plot;  // area from (0, 0)
    layout::Theme theme = layout::Theme::dark;
    float scale = 1;
    bool same(const Request& o) const;
  };
  static layout::Image make(const Request& request);
  void ask(const PlotPanel& panel, const Scene& scene);
  void show(const PlotPanel& panel);
  void draw_pointed(const PlotPanel& panel);
  void draw_names(const PlotPanel& panel);

  Request asked_;
  std::shared_ptr<const layout::Image> image_;  // what texture_ has
  Texture texture_;
  std::unique_ptr<layout::Latest<Request, layout::Image>> worker_;
};

}  // namespace pclscope::gui
