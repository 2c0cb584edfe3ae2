// An image on the graphics card. Without one (tests without OpenGL) nothing is uploaded and id() is 0.
#pragma once

#include <imgui.h>

#include "viewer/layout/line_image.hpp"

namespace pclscope::gui {

class Texture {
 public:
  Texture() = default;
  ~Texture();
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  void upload(const layout::Image& image);
  ImTextureID id() const;  // 0: nothing to draw
  int width() const { return width_; }
  int height() const { return height_; }
  // Called once by whoever has made an OpenGL context current.
  static void allow_uploads(bool allowed);

 private:
  unsigned name_ = 0;
  int width_ = 0;
  int height_ = 0;
};

}  // namespace pclscope::gui
