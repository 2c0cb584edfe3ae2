// OpenGL without a window: EGL without a display (Mesa's surfaceless platform) and a framebuffer of our own, so that
// pictures can be made on a login node. One at a time, in the thread that made it.
#pragma once

#include <memory>
#include <string>

#include "analysis/values/result.hpp"
#include "viewer/layout/line_image.hpp"

namespace pclscope::gui {

class Offscreen {
 public:
  // Makes its context current. Fails with not_found: no EGL, no OpenGL 3.
  static Result<std::unique_ptr<Offscreen>> open(int width, int height);
  ~Offscreen();
  void begin_frame(layout::Rgba clear_with = {});  // binds and clears
  layout::Image pixels();                          // waits for the drawing
  void finish();                                   // the same without copying

 private:
  struct Inside;
  explicit Offscreen(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

// Opaque, into a new file (an old one is replaced only when all is written).
Status write_png(const layout::Image& image, const std::string& path);

}  // namespace pclscope::gui
