// What stacked activity and the call view share: where their parts are, legend, time axis, the brush, and the picture
// that is made in another thread. Private to viewer/gui/calls.
#pragma once

#include <imgui.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/call_painter.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/time_sight.hpp"

namespace pclscope::gui {

struct CallParts {
  layout::Rect header, scale, plot, axis, legend;
};
CallParts call_parts(layout::Rect area, float scale);

// A small button left of `right`, which moves; true when it was clicked. `pressed`: as what is on.
bool call_button(const Scene& scene, const char* word, const char* mark, bool pressed, float& right, float top,
                 std::vector<Mark>& marks, const char* words);

// The functions with their colours, shares and calls; a click selects one, a second one lets it go.
void draw_call_legend(const Scene& scene, Selection& selection, const layout::CallPicture& picture, layout::Rect area,
                      std::vector<Mark>& marks);

// The picture of a plot over time, its axis, and what the mouse does there.
class CallPlot {
 public:
  // Takes what is done, asks for what is missing: `wanted` without range and size. `all`: what the axis is from end to
  // end.
  void follow(const Scene& scene, layout::CallRequest wanted, layout::TimeRange all, layout::Rect plot);
  // The newest picture, perhaps of another range; null before the first.
  const layout::CallPicture* picture() const { return picture_.get(); }
  void draw(const Scene& scene, layout::Rect plot, float opacity = 1);
  // Frame and moments below.
  void draw_axis(const Scene& scene, layout::Rect plot, layout::Rect axis) const;
  // Wheel and right button: zoom and pan; left button: drags a period, with shift a rectangle where somebody wants
  // one. True: a click without a drag.
  bool react(const Scene& scene, Selection& selection, layout::Rect plot, const char* id, bool rectangles = false);
  // The one that was dragged in this frame, in pixels.
  const std::optional<layout::Rect>& rectangle() const { return rectangle_; }
  bool double_clicked() const { return double_clicked_; }  // now, or the click that has just been told
  void draw_period(const Scene& scene, const Selection& selection, layout::Rect plot) const;
  bool part() const { return sight_.part().has_value(); }
  void show_all() { sight_.show_all(); }
  layout::TimeRange shown() const;  // on the screen
  double second_at(float x) const { return sight_.second(x); }
  float x_of(double second) const { return sight_.x(second); }
  bool hovered() const { return hovered_; }
  // For the ruler; `measures`: shift and drag are its.
  std::vector<ViewAxis> axes(bool measures) const;
  bool unsettled() const { return asked_any_ && (!picture_ || !(picture_->of == asked_)); }

 private:
  using Worker = layout::Latest<layout::CallRequest, layout::CallPicture>;
  layout::Rect framed(layout::Point mouse, layout::Rect plot) const;

  layout::TimeSight sight_;
  layout::TimeRange all_{0, 0};
  layout::CallRequest asked_;
  layout::Rect area_{};  // of the plot, as drawn last
  bool asked_any_ = false, hovered_ = false, panning_ = false, dragging_ = false;
  bool double_clicked_ = false, framing_ = false;  // framing: a rectangle is dragged
  layout::Point pressed_;
  std::optional<layout::Rect> rectangle_;
  std::shared_ptr<const layout::CallPicture> picture_;
  Texture texture_;
  std::unique_ptr<Worker> worker_;  // last: its thread ends first
};

}  // namespace pclscope::gui
