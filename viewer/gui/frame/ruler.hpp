// A line across all views that have the axis under the mouse, while shift is down: where the same moment is, and, while
// the left button is dragged, how far it is from where the button went down. UI thread only.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/gui/base/view.hpp"

namespace pclscope::gui {

class Ruler {
 public:
  // Before the views of a frame are drawn, with their axes of the frame before: where it measures, the left button is
  // the ruler's, and views do not see it.
  void begin(const std::vector<ViewAxis>& axes);
  // After them, with their axes of now.
  void draw(const Scene& scene, const std::vector<ViewAxis>& axes);

  // As drawn last; none: no ruler.
  struct Reading {
    AxisKind kind = AxisKind::time;
    double at = 0;
    std::optional<double> from;  // while measuring
    std::size_t lines = 0;       // that were drawn
  };
  const std::optional<Reading>& reading() const { return reading_; }

 private:
  struct Start {
    AxisKind kind;
    double at;
  };
  // What ImGui knows of the left button; as it is: that nothing happens.
  struct Button {
    bool down = false, clicked = false, released = false, double_clicked = false;
    std::uint16_t count = 0;
    float duration = -1;
  };
  static void put(const Button& button);

  std::optional<Start> start_;  // the button went down there
  bool taken_ = false;          // this frame's button is the ruler's
  Button button_;               // as it was
  std::optional<Reading> reading_;
};

// "1.234567 s", "step 12"; and a difference: "12.3 ms", "4 steps".
std::string ruler_words(AxisKind kind, double at, std::optional<double> from);

}  // namespace pclscope::gui
