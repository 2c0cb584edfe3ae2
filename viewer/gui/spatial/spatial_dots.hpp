// Thousands of small discs in one draw call: quads of four vertices with the picture of a disc.
#pragma once

#include <imgui.h>

#include "viewer/gui/base/texture.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::gui {

class Dots {
 public:
  // Between begin and end only add may draw into the list.
  void begin(ImDrawList& list);
  void add(layout::Point middle, float radius, layout::Rgba colour);
  void end();

 private:
  Texture disc_;
  bool tried_ = false;
  ImDrawList* list_ = nullptr;
  bool pushed_ = false;
};

}  // namespace pclscope::gui
