// The spatial view: where messages are late. Regions as discs placed by the links between them, ranks inside; coloured
// by latency or by region. Layout and the layer of lines are computed in two workers; see layout/spatial_layout.hpp.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/spatial/spatial_dots.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/spatial_image.hpp"
#include "viewer/layout/spatial_layout.hpp"
#include "viewer/layout/spatial_values.hpp"

namespace pclscope::gui {

class SpatialView final : public View {
 public:
  const char* title() const override { return "where: regions"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return unsettled_; }

 private:
  // spatial_view.cpp: what is to be drawn
  void update_layout(const Scene& scene);
  void update_values(const Scene& scene, const Selection& selection);
  void update_open(const Scene& scene);
  void update_camera(const Scene& scene);
  void update_image(const Scene& scene);
  void ask_layout();
  void take_layout(std::shared_ptr<const layout::SpatialLayout> answer, bool glides);
  bool draw_nothing(const Scene& scene) const;
  layout::Placement placement() const;
  layout::Placement final_placement() const;  // when nothing glides any more
  layout::Point place_of(std::size_t region) const;
  layout::Point place_of(std::size_t region, std::size_t rank) const;
  layout::Point screen_of(std::size_t region) const { return placement().to_screen(place_of(region)); }
  float dot_radius(const Scene& scene) const { return dot_radius(scene, camera_.zoom()); }
  static float dot_radius(const Scene& scene, float zoom);
  bool visible(std::size_t region, float margin) const;

  // spatial_react.cpp: mouse and keys
  struct Hit {
    std::optional<std::size_t> region;  // index in the layout
    std::optional<std::size_t> rank;    // index in that region's ranks
    std::optional<std::size_t> link;    // index in the layout's links; only where no region is
    std::optional<std::size_t> pair;    // index in the layout's pairs; only where no rank and no link is
  };
  Hit hit_test(const Scene& scene, layout::Point mouse) const;
  std::optional<std::size_t> region_at(layout::Point mouse) const;
  void react(const Scene& scene, Selection& selection, bool hovered, bool active);
  void press(layout::Point mouse, const Hit& hit);
  void drag(const Scene& scene, layout::Point mouse);
  void release(Selection& selection, const Hit& hit);
  void keys(Selection& selection);
  void turn(float by);
  void toggle(std::size_t region);
  void pick(Selection& selection, const Hit& hit) const;
  void pick_lasso(Selection& selection) const;
  void show_tooltip(const Selection& selection, const Hit& hit) const;

  // spatial_links.cpp: lines between regions and between ranks
  std::optional<std::size_t> nearest_link(layout::Point mouse) const;
  std::optional<std::size_t> nearest_pair(layout::Point mouse) const;
  std::int32_t rank_at(layout::RankAt at) const;
  void pick_link(Selection& selection, std::size_t link) const;
  void pick_pair(Selection& selection, std::size_t pair) const;
  std::string words_of_pair(std::size_t pair) const;
  float width_of_link(std::size_t link, const Scene& scene) const;
  void draw_line_under_mouse(ImDrawList& list, const Scene& scene) const;
  void mark_links();

  // spatial_draw.cpp: onto the draw list
  void draw_header(const Scene& scene, Selection& selection);
  void draw_rims(ImDrawList& list, const Scene& scene) const;
  void draw_lines(ImDrawList& list) const;
  void draw_picked_links(ImDrawList& list, const Scene& scene, const Selection& selection) const;
  void draw_closed_discs(ImDrawList& list, const Scene& scene);
  void draw_ranks(ImDrawList& list, const Scene& scene);
  void draw_rank_numbers(ImDrawList& list, const Scene& scene) const;
  void draw_picked(ImDrawList& list, const Scene& scene, const Selection& selection) const;
  void draw_labels(ImDrawList& list, const Scene& scene, const Selection& selection) const;
  void draw_lasso(ImDrawList& list, const Scene& scene) const;
  void draw_legend(ImDrawList& list, const Scene& scene) const;
  void make_marks();

  struct LayoutRequest {
    std::shared_ptr<const Snapshot> snapshot;
    layout::Pins pins;
  };
  struct Grab {                          // the left button is down
    layout::Point from;                  // where it was pressed
    std::optional<std::int32_t> region;  // id under it
    layout::Point held;                  // its middle minus the mouse, in units of the layout
    bool moving = false;
    bool lasso = false;
  };

  std::shared_ptr<const Snapshot> snapshot_;  // asked for last
  std::shared_ptr<const layout::SpatialLayout> placed_;
  std::vector<layout::RegionValue> values_;          // of placed_'s regions
  std::shared_ptr<const session::History> history_;  // of values_
  std::optional<SelectedPeriod> period_;             // of values_
  std::optional<layout::SpatialColouring> chosen_;   // by the user
  layout::SpatialColouring colouring_ = layout::SpatialColouring::latency;
  std::shared_ptr<const layout::SpatialColours> colours_;
  const layout::Palette* palette_ = nullptr;  // of colours_
  layout::SpatialColouring coloured_ = layout::SpatialColouring::latency;
  std::optional<layout::RankSummaries> summaries_;  // of placed_'s snapshot
  std::string headline_;
  std::optional<std::size_t> worst_;  // none: nobody stands out

  layout::Pins pins_;
  std::map<std::int32_t, bool> chosen_open_;       // by id: the user's word against the rule
  std::shared_ptr<const std::vector<bool>> open_;  // by index
  std::size_t ranks_in_sight_ = 0;                 // of open regions
  Camera camera_;
  float angle_ = 0;
  float scale_ = 1;
  layout::Rect area_;                                      // of the canvas
  layout::Rect extent_;                                    // of the layout, turned
  std::shared_ptr<const layout::SpatialLayout> measured_;  // extent_ belongs to it
  float measured_angle_ = 0;
  std::optional<Grab> grab_;
  std::vector<layout::Point> lasso_;  // pixels
  Hit hit_;                           // under the mouse
  layout::SpatialPicture asked_;
  std::shared_ptr<const layout::SpatialImage> shown_;  // in image_
  Texture image_;
  Dots dots_;
  std::vector<Mark> marks_;
  std::vector<Mark> header_marks_;
  bool unsettled_ = false;
  // After a layout with other places: where things were, minus where they are now. Empty: nothing has moved.
  Glide glide_;
  std::vector<layout::Point> regions_from_;
  std::vector<std::vector<layout::Point>> ranks_from_;
  std::unique_ptr<layout::Latest<LayoutRequest, layout::SpatialLayout>> layouts_;  // made with the first frame
  std::unique_ptr<layout::Latest<layout::SpatialPicture, layout::SpatialImage>> images_;
};

}  // namespace pclscope::gui
