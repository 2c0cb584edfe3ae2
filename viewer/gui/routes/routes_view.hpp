// The routes view (Fujiwara et al., communication view): which links carry what. Graph, places by forces and the image
// are computed in three workers; see layout/network_graph.hpp and layout/route_picture.hpp.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/network_forces.hpp"
#include "viewer/layout/route_picture.hpp"

namespace pclscope::gui {

// A network as it is drawn, with its places.
struct PlacedNetwork {
  std::shared_ptr<const layout::NetworkGraph> graph;
  std::shared_ptr<const std::vector<layout::Point>> places;
  layout::Rect extent;  // of the places
  layout::NetworkShape shape;
  layout::Grouping grouping;
  layout::Merged merged = 0;
  std::vector<bool> open;  // by group
  std::string how;         // the places are made: "by coordinates", "by forces (sfdp)"
  mapping::LoadedLink heaviest;
  std::size_t over_heaviest = 0;  // routes
};

class RoutesView final : public View {
 public:
  const char* title() const override { return "which links: routes"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return unsettled_; }
  bool awaits() const override { return awaits_; }
  bool needs_run() const override { return false; }

 private:
  // routes_view.cpp: what is to be drawn
  void make_workers(const Scene& scene);
  void update_graph(const Scene& scene);
  void update_places(const Scene& scene, const session::NetworkCasePtr& first);
  void update_image(const Scene& scene, const Selection& selection);
  bool by_forces() const;
  layout::RoutePicture picture(const Scene& scene) const;
  bool draw_nothing(const Scene& scene) const;

  // routes_react.cpp: mouse and keys
  void react(const Scene& scene, Selection& selection, bool hovered, bool active);
  void press();
  void drag(const Scene& scene);
  void release(const Scene& scene, Selection& selection);
  void keys(const Scene& scene, Selection& selection);
  void pick(const Scene& scene, Selection& selection);
  void take_lasso(const Scene& scene);
  void toggle(std::int32_t node);
  void open_lasso(const Scene& scene);
  void merge(layout::Merged merged);

  // routes_draw.cpp: onto the draw list
  void draw_header(const Scene& scene, Selection& selection);
  void draw_merges(const Scene& scene);
  void draw_filter(const Scene& scene);
  void draw_image(ImDrawList& list, const Scene& scene) const;
  void draw_picked(ImDrawList& list, const Scene& scene, const Selection& selection) const;
  void draw_labels(ImDrawList& list, const Scene& scene) const;
  void draw_lasso(ImDrawList& list, const Scene& scene) const;
  void draw_legend(ImDrawList& list, const Scene& scene) const;
  void make_marks(const Scene& scene);

  struct GraphRequest {
    std::shared_ptr<const session::ShownRoutes> shown;
    layout::Merged merged = 0;
    std::vector<std::int32_t> opened;  // a vertex of each open group, ascending
    bool forces = false;
    std::shared_ptr<const layout::ForcePlaces> forced;  // null: not there yet
    bool operator==(const GraphRequest&) const = default;
  };
  struct PlaceRequest {
    session::NetworkCasePtr network;
  };
  struct Progress {  // of the places by forces
    std::mutex mutex;
    std::string words;
  };
  static PlacedNetwork place(const GraphRequest& request);
  struct Grab {  // the left button is down
    layout::Point from;
    bool moving = false;
    bool lasso = false;
  };

  std::unique_ptr<layout::Latest<GraphRequest, PlacedNetwork>> graphs_;  // made with the first frame
  std::unique_ptr<layout::Latest<PlaceRequest, layout::ForcePlaces>> forces_;
  std::unique_ptr<layout::Latest<layout::RoutePicture, layout::RouteImage>> images_;
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  GraphRequest wanted_;
  std::shared_ptr<const PlacedNetwork> placed_;
  session::NetworkCasePtr forced_for_;                    // places by forces were asked for
  std::optional<bool> chosen_forces_;                     // by the user
  layout::NetworkKind kind_ = layout::NetworkKind::grid;  // of the network that is shown
  layout::LinkColour colour_ = layout::LinkColour::bytes;
  layout::Merged merged_ = 0;
  std::vector<std::int32_t> opened_;
  bool crossing_ = false;

  Camera camera_;
  layout::Rect area_;  // of the canvas
  std::optional<Grab> grab_;
  std::vector<layout::Point> lasso_;  // pixels, while it is drawn
  layout::RouteHit hit_;              // under the mouse
  layout::RoutePicture asked_;
  std::shared_ptr<const layout::RouteImage> shown_;  // in image_
  Texture image_;
  std::vector<Mark> marks_, header_marks_;
  bool unsettled_ = false;
  bool awaits_ = false;  // places by forces, when the last frame began
};

}  // namespace pclscope::gui
