// The sheet of paper under the DAG view: which graph is on it, what is folded, zoom and pan, and the image of its
// links. Layout and image are made in threads of their own; until they are done, the sheet shows what it had.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/dag_image.hpp"
#include "viewer/layout/latest.hpp"

namespace pclscope::gui {

class DagSheet {
 public:
  // Once per frame: takes what is done, asks for what is missing. `area`: of the screen, the part that is free of words
  // and legends: what is to be seen at first is brought in there. Of a graph that does not fit that is where
  // first_look() says.
  void follow(const Scene& scene, const Selection& selection, const layout::Rect& area);
  // Zoom and pan, after follow().
  void react(const layout::Rect& area, bool hovered);
  void draw_image(ImDrawList& list, const layout::Rect& area, const Scene& scene);

  // Null before the first.
  const layout::DagPicture* picture() const { return picture_.get(); }
  layout::Point to_screen(layout::Point plane) const { return camera_.to_screen(plane + shift_); }
  layout::Point to_plane(layout::Point screen) const { return camera_.to_world(screen) - shift_; }
  layout::Point at(std::size_t node) const;  // of the picture, on its plane: where it is now
  bool gliding() const { return glide_.active(); }
  float zoom() const { return camera_.zoom(); }
  layout::Point offset() const { return to_screen({}); }

  // Folds what hangs right of a node of the picture, or unfolds it; it stays where it is on the screen.
  void toggle(std::size_t node);
  void unfold_all();
  void fold_again();  // as at first
  bool all_shown() const { return picture_ && picture_->dag.nodes.size() == picture_->whole().nodes.size(); }
  void fit() { all_in_sight_ = true, refit(); }
  // The node of the whole graph at which it starts; none: all of it is in sight, or it was moved.
  std::optional<std::size_t> start() const;
  // Brings a node of the whole graph to the middle, unfolding what hides it when `open`.
  void centre_on(std::size_t whole_node, bool open);
  bool unsettled() const;
  // Links in the image that lies under the glyphs; 0: there is none yet.
  std::size_t links_shown() const {
    return image_ && image_->of.picture == picture_ && picture_ ? picture_->routes.size() : 0;
  }

 private:
  using Painter = layout::Latest<layout::DagPictureRequest, layout::DagPicture>;
  using ImageMaker = layout::Latest<layout::DagImageRequest, layout::DagImage>;
  void begin(const Scene& scene);
  void take_picture(bool glides);
  void show(std::shared_ptr<const layout::DagPicture> picture, bool glides);
  void fit_into(Camera& camera, const layout::DagPicture& picture, layout::Point shift, const layout::Rect& area) const;
  void refit() { placed_ = false, camera_.reset(); }
  std::int32_t layers_in_sight() const { return start_ && !all_in_sight_ ? start_->layers : 0; }
  void glide_from(const layout::DagPicture& before, const std::vector<layout::Point>& places);
  void ask_picture(const Scene& scene, const Selection& selection, const layout::Rect& area);
  void centre(std::size_t node);
  void widen();  // automatic folds move to the right
  layout::DagImageRequest wanted_image(const layout::Rect& area, const Scene& scene) const;
  void take_image(bool glides);

  std::unique_ptr<Painter> painter_;
  std::unique_ptr<ImageMaker> image_maker_;
  std::shared_ptr<const layout::DagPicture> picture_;
  std::shared_ptr<const layout::DagPicture> next_;  // of another graph: shown when its links are drawn; null
  std::shared_ptr<const Dag> dag_;                  // asked for
  std::vector<std::int32_t> folds_;                 // by the user, nodes of dag_, ascending
  std::size_t base_ = 0, budget_ = 0;
  // Of dag_, where it starts: not in the first layers, if it is there.
  struct Start {
    std::size_t node = 0;                // of the whole
    std::int32_t first = 0, layers = 0;  // in sight
    std::size_t nodes = 0;               // up to the last of these layers
  };
  static std::optional<Start> start_of(const Dag& dag, const Selection& selection, std::size_t at_first);
  std::optional<Start> start_;
  bool all_in_sight_ = false;  // by fit()
  std::int32_t asked_layers_ = 0;
  std::vector<std::int32_t> asked_folds_;
  std::size_t asked_budget_ = 0;

  Camera camera_;
  layout::Point shift_;  // from the layout's plane to the camera's world: keeps a node in place
  bool placed_ = false;  // by centre_on: does not fit by itself
  std::optional<std::pair<std::int32_t, layout::Point>> anchor_;  // node of the whole, where it is to be on the screen
  std::optional<std::int32_t> to_centre_;                         // node of the whole, when the next picture comes
  Glide glide_;                                                   // of the nodes, when folds change
  std::vector<layout::Point> from_;                               // by node: where it was, minus where it is
  layout::Rect area_;                                             // that is free of words
  float scale_ = 1;

  layout::DagImageRequest asked_image_;
  layout::DagImageRequest last_wanted_;  // of the last frame: an image is asked for when nothing moves
  std::shared_ptr<const layout::DagImage> image_;
  Texture texture_;
};

}  // namespace pclscope::gui
