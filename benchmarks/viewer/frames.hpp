// Frames drawn off screen, with a mouse that moves over them, and what they take. For benchmarks of the window.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/values/result.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/frame/offscreen.hpp"
#include "viewer/layout/line_image.hpp"

namespace pclscope::benchmark {

double clock_ms();      // that goes by
double processor_ms();  // of all threads of this process: others on the machine do not lengthen it much
double thread_ms();     // of this thread
std::size_t resident_mib();

struct Times {
  std::vector<double> ms;
  double at(double share) const;  // 0.5: the median; 0 when there are none
};

// Of a frame: from its begin until the picture is there. Processor time is of all threads in that time: OpenGL in
// software has some of its own, and so have views that make pictures meanwhile.
struct FrameTimes {
  Times clock, processors;
};

// ImGui and OpenGL without a window, in the dark theme. One at a time, in the thread that made it.
class Screen {
 public:
  static Result<std::unique_ptr<Screen>> open(int width = 1600, int height = 1000);
  ~Screen();
  Screen(const Screen&) = delete;
  float width() const { return width_; }
  float height() const { return height_; }
  void frame(const std::function<void()>& content, FrameTimes* times = nullptr);
  // One view alone, without the rest of the window.
  void frame(gui::View& view, const gui::Scene& scene, gui::Selection& selection, FrameTimes* times = nullptr);
  layout::Image pixels() { return offscreen_->pixels(); }

 private:
  Screen(std::unique_ptr<gui::Offscreen> offscreen, int width, int height);
  std::unique_ptr<gui::Offscreen> offscreen_;
  float width_, height_;
};

// Where the mouse is in frame i: all over the window, or as far from its middle as `reach` says (shares of its size).
void hover(const Screen& screen, int i, layout::Point middle = {0.5f, 0.5f}, layout::Point reach = {0.45f, 0.4f});
// In turns of 60 frames: it hovers; zooms in; drags with the right button forth and back; zooms out again. So nothing
// is moved out of sight for good.
void hover_zoom_and_drag(const Screen& screen, int i);
void take_mouse_away();
void wait_for_next_frame();  // as a window waits for its screen

}  // namespace pclscope::benchmark
