// A run's boxes in a rectangle of the logical timeline: its picture, phases, and which event is where. The view has one
// of them, or two below each other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/logical_picture.hpp"

namespace pclscope::gui {

class LogicalPane {
 public:
  // Once per frame, first: what should be shown, and where.
  void follow(const Scene& scene, const layout::Rect& area, const layout::LogicalImageRequest& wanted);
  bool busy() const { return painter_ && painter_->busy(); }
  const layout::LogicalImage* shown() const { return shown_.get(); }  // the last whole picture; null: none yet
  const layout::Rect& area() const { return area_; }
  const layout::LogicalSight& sight() const { return sight_; }
  const session::LogicalRun& run() const { return *run_; }

  // The last whole picture, where it belongs now. Names of marks begin with `which`.
  void draw(ImDrawList& list, const Scene& scene, const std::string& which, std::vector<Mark>& marks);
  // `numbers`: of the phases, if they are not the run's own.
  void draw_phases(ImDrawList& list, const Scene& scene, const std::vector<std::uint32_t>* numbers) const;
  void light(ImDrawList& list, const Scene& scene, EventPlace place) const;
  EventPlace at(layout::Point mouse) const;
  EventPlace event_at(std::int32_t rank, std::uint32_t step) const;
  layout::Rect place_of(EventPlace place) const;

 private:
  std::optional<layout::Point> pixel_of(EventPlace place) const;
  void draw_first(ImDrawList& list, const Scene& scene, const std::string& which, std::vector<Mark>& marks) const;

  using Painter = layout::Latest<layout::LogicalImageRequest, layout::LogicalImage>;
  std::shared_ptr<const session::LogicalRun> run_;
  std::shared_ptr<const layout::LogicalImage> shown_;
  std::unique_ptr<Painter> painter_;  // before what its work may outlive
  Texture texture_;
  layout::LogicalImageRequest asked_;
  layout::LogicalSight sight_;
  layout::Rect area_{};
};

}  // namespace pclscope::gui
