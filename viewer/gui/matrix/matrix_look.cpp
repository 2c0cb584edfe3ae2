#include "viewer/gui/matrix/matrix_look.hpp"

#include <imgui.h>

#include <cmath>

namespace pclscope::gui {
namespace {

constexpr double zoom_per_notch = 1.25, most_pixels_of_unit = 64;

}  // namespace

void MatrixLook::react(const layout::Rect& area, double units, bool hovered) {
  if (units <= 0) return;
  const double side = std::max(1.f, std::min(area.width(), area.height())), whole = side / units;
  if (units != units_) moved_ = moved_ && units_ > 0 && std::abs(units / units_ - 1) < 0.5;  // much was (un)folded
  units_ = units;
  const ImGuiIO& io = ImGui::GetIO();
  if (moved_ && hovered && ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) moved_ = false;
  if (!moved_) x_ = y_ = 0, scale_ = whole;
  if (hovered && io.MouseWheel != 0) {
    const double dx = static_cast<double>(io.MousePos.x - area.low.x),
                 dy = static_cast<double>(io.MousePos.y - area.low.y);
    const double ux = x_ + dx / scale_, uy = y_ + dy / scale_;
    scale_ = std::clamp(scale_ * std::pow(zoom_per_notch, static_cast<double>(io.MouseWheel)), whole,
                        std::max(whole, most_pixels_of_unit));
    x_ = ux - dx / scale_, y_ = uy - dy / scale_;
    moved_ = scale_ > whole;
  }
  const auto pan = [&](float px, float py) {
    if (px == 0 && py == 0) return;
    x_ -= static_cast<double>(px) / scale_, y_ -= static_cast<double>(py) / scale_;
    moved_ = true;
  };
  if (hovered && ImGui::IsMouseDragging(ImGuiMouseButton_Right)) pan(io.MouseDelta.x, io.MouseDelta.y);
  if (hovered && !io.KeyAlt && !io.WantTextInput) {
    const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)) ? 1.f : 0.f; };
    const float step = 600 * io.DeltaTime;
    pan((down(ImGuiKey_LeftArrow) - down(ImGuiKey_RightArrow)) * step,
        (down(ImGuiKey_UpArrow) - down(ImGuiKey_DownArrow)) * step);
  }
  // Something of the matrix stays in sight.
  const auto keep = [&](double& at, float pixels) {
    at = std::clamp(at, std::min(0.0, units - static_cast<double>(pixels) / scale_),
                    std::max(0.0, units - static_cast<double>(pixels) / scale_));
  };
  keep(x_, area.width());
  keep(y_, area.height());
  if (units * scale_ <= static_cast<double>(area.width())) x_ = 0;
  if (units * scale_ <= static_cast<double>(area.height())) y_ = 0;
}

}  // namespace pclscope::gui
