// The range slider below the evolution view: two handles and what lies between them, over the whole time. Private to
// evolution_*.cpp.
#pragma once

#include <optional>

#include "viewer/gui/evolution/evolution_frame.hpp"

namespace pclscope::gui {

class PeriodSlider {
 public:
  // `frame.sight` is of the part in view; the slider shows all. Sets or clears selection.period.
  void draw(const EvolutionFrame& frame, Selection& selection, layout::Rect area);
  bool dragging() const { return grip_ != Grip::none; }

 private:
  enum class Grip { none, left, right, middle, fresh };
  Grip grip_at(const layout::TimeSight& whole, const Selection& selection, float x, float reach) const;
  void drag(const layout::TimeAxis& axis, const layout::TimeSight& whole, Selection& selection);
  void draw_back(const EvolutionFrame& frame, const layout::TimeSight& whole, layout::Rect area) const;
  void draw_range(const EvolutionFrame& frame, const layout::TimeSight& whole, const Selection& selection,
                  layout::Rect area) const;

  Grip grip_ = Grip::none;
  float pressed_x_ = 0;
  float offset_ = 0;                // from the mouse to the handle, so that it does not jump
  double begin_s_ = 0, end_s_ = 0;  // the range when the drag began
};

}  // namespace pclscope::gui
