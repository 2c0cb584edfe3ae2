// From layout's points and colours to ImGui's, and the few things that every plot has: text that stays inside, ticks,
// zoom and pan by mouse. Only for use between ImGui::Begin and End.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "viewer/gui/base/glide.hpp"
#include "viewer/layout/geometry.hpp"

namespace pclscope::gui {

inline ImVec2 to_imgui(layout::Point p) { return {p.x, p.y}; }
inline layout::Point to_point(ImVec2 v) { return {v.x, v.y}; }
inline layout::Point middle_of_item() {  // of ImGui's last one
  return to_point({(ImGui::GetItemRectMin().x + ImGui::GetItemRectMax().x) / 2,
                   (ImGui::GetItemRectMin().y + ImGui::GetItemRectMax().y) / 2});
}
inline float line_height() { return ImGui::GetFontSize() * 1.2f; }  // pixels
inline ImU32 to_imgui(layout::Rgba c) { return IM_COL32(c.red, c.green, c.blue, c.alpha); }

// Draws text at `at` (its top left), cut off with ".." beyond `width` pixels (0: never).
void draw_text(ImDrawList& list, layout::Point at, layout::Rgba colour, std::string_view text, float width = 0);
// Around `middle`.
void draw_text_centred(ImDrawList& list, layout::Point middle, layout::Rgba colour, std::string_view text);
layout::Point text_size(std::string_view text);

// Round values for an axis: about `most` ticks in [low, high], ascending; empty for nonsense.
std::vector<double> ticks(double low, double high, int most);

// Zoom (wheel, towards the mouse), pan (drag with the right or middle button, or arrow keys while hovered), Home
// resets. After glide(), what fit() changes is reached in a moment, not at once.
class Camera {
 public:
  // Call once per frame over an ImGui item that has just been drawn (an InvisibleButton covering `area`).
  void react(const layout::Rect& area, bool hovered);
  layout::Point to_screen(layout::Point world) const { return world * zoom() + offset(); }
  layout::Point to_world(layout::Point screen) const { return (screen - offset()) * (1 / zoom()); }
  float zoom() const;
  layout::Point offset() const { return offset_ + (from_offset_ - offset_) * glide_.left(); }
  // Where it will stand still.
  float final_zoom() const { return zoom_; }
  layout::Point final_offset() const { return offset_; }
  void glide();
  void advance(float frame_s) { glide_.advance(frame_s); }  // once per frame, first
  bool gliding() const { return glide_.active(); }
  // Shows the whole of `world` in `area`, with a margin in pixels; on the first call, or when `again`, or until the
  // user has moved it.
  void fit(const layout::Rect& world, const layout::Rect& area, float margin, bool again = false);
  bool moved() const { return moved_; }
  // By the user, in pixels.
  void pan(layout::Point by) {
    stand();
    offset_ = offset_ + by;
    moved_ = true;
  }
  void reset() { moved_ = false; }

 private:
  void stand();  // where it is

  float zoom_ = 1, from_zoom_ = 1;
  layout::Point offset_, from_offset_;
  Glide glide_;
  bool moved_ = false;
};

// A tooltip with wrapped lines.
void tooltip(std::string_view text);

}  // namespace pclscope::gui
