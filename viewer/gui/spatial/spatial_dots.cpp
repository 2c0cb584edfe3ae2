#include "viewer/gui/spatial/spatial_dots.hpp"

#include <array>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

constexpr int side = 24;       // of the picture: about the largest dot's diameter
constexpr float covered = 22;  // of it, by the disc

}  // namespace

void Dots::begin(ImDrawList& list) {
  if (!tried_) {
    constexpr layout::Rgba white{255, 255, 255};
    const layout::Point middle{side / 2.f, side / 2.f};
    const std::array<layout::Stroke, 1> disc{{{{middle, {middle.x + 0.01f, middle.y}}, covered, white, white}}};
    disc_.upload(layout::draw_strokes(side, side, disc));
    tried_ = true;
  }
  list_ = &list;
  pushed_ = disc_.id() != nullptr;
  if (pushed_) list.PushTextureID(disc_.id());
}

void Dots::add(layout::Point middle, float radius, layout::Rgba colour) {
  const float half =
      pushed_ ? radius * side / covered : radius * 0.886f;  // without the picture: a square of equal area
  const ImVec2 white = ImGui::GetFontTexUvWhitePixel();
  list_->PrimReserve(6, 4);
  list_->PrimRectUV({middle.x - half, middle.y - half}, {middle.x + half, middle.y + half},
                    pushed_ ? ImVec2(0, 0) : white, pushed_ ? ImVec2(1, 1) : white, to_imgui(colour));
}

void Dots::end() {
  if (pushed_) list_->PopTextureID();
  list_ = nullptr;
}

}  // namespace pclscope::gui
