#include "viewer/gui/base/canvas.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace pclscope::gui {
namespace {

constexpr float zoom_per_notch = 1.15f;
constexpr float least_zoom = 1e-4f, most_zoom = 1e4f;

const char* begin_of(std::string_view text) { return text.data(); }
const char* end_of(std::string_view text) { return text.data() + text.size(); }

}  // namespace

layout::Point text_size(std::string_view text) {
  return text.empty() ? layout::Point{} : to_point(ImGui::CalcTextSize(begin_of(text), end_of(text)));
}

void draw_text(ImDrawList& list, layout::Point at, layout::Rgba colour, std::string_view text, float width) {
  if (text.empty()) return;
  if (width <= 0 || text_size(text).x <= width) {
    return list.AddText(to_imgui(at), to_imgui(colour), begin_of(text), end_of(text));
  }
  std::size_t low = 0, high = text.size();  // the most bytes that fit, by bisection
  const float dots = text_size("..").x;
  while (low < high) {
    const std::size_t middle = (low + high + 1) / 2;
    if (text_size(text.substr(0, middle)).x + dots <= width) low = middle;
    else high = middle - 1;
  }
  while (low > 0 && low < text.size() && (static_cast<unsigned char>(text[low]) & 0xc0) == 0x80)
    --low;  // whole characters
  if (dots > width) return;
  const std::string cut = std::string(text.substr(0, low)).append("..");
  list.AddText(to_imgui(at), to_imgui(colour), cut.c_str());
}

void draw_text_centred(ImDrawList& list, layout::Point middle, layout::Rgba colour, std::string_view text) {
  draw_text(list, middle - text_size(text) * 0.5f, colour, text);
}

std::vector<double> ticks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high) || high <= low || most < 1) return {};
  const double rough = (high - low) / most;
  const double decade = std::pow(10.0, std::floor(std::log10(rough)));
  if (!(decade > 0) || !std::isfinite(decade)) return {};
  double step = decade * 10;
  for (const double nice : {1.0, 2.0, 5.0}) {
    if (nice * decade >= rough) {
      step = nice * decade;
      break;
    }
  }
  std::vector<double> found;
  const double first = std::ceil(low / step);
  for (int i = 0; i <= most + 1; ++i) {
    const double at = (first + i) * step;
    if (at > high) break;
    found.push_back(at);
  }
  return found;
}

float Camera::zoom() const { return glide_.active() ? zoom_ * std::pow(from_zoom_ / zoom_, glide_.left()) : zoom_; }

void Camera::glide() {
  from_zoom_ = zoom();
  from_offset_ = offset();
  glide_.start();
}

void Camera::stand() {
  zoom_ = zoom();
  offset_ = offset();
  glide_.stop();
}

void Camera::react(const layout::Rect& area, bool hovered) {
  if (!hovered) return;
  const ImGuiIO& io = ImGui::GetIO();
  const layout::Point mouse = to_point(io.MousePos);
  if (io.MouseWheel != 0 && area.holds(mouse)) {
    stand();
    const layout::Point under = to_world(mouse);
    zoom_ = std::clamp(zoom_ * std::pow(zoom_per_notch, io.MouseWheel), least_zoom, most_zoom);
    offset_ = mouse - under * zoom_;
    moved_ = true;
  }
  for (const ImGuiMouseButton button : {ImGuiMouseButton_Right, ImGuiMouseButton_Middle}) {
    if (ImGui::IsMouseDragging(button)) pan(to_point(io.MouseDelta));
  }
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) moved_ = false;
  if (ImGui::IsAnyItemActive() || io.KeyAlt) return;  // with Alt: back and forward through what was selected
  const float step = 400 * io.DeltaTime;
  const auto arrow = [&](ImGuiKey key, layout::Point by) {
    if (ImGui::IsKeyDown(ImGui::GetKeyIndex(key))) pan(by);
  };
  arrow(ImGuiKey_LeftArrow, {step, 0});
  arrow(ImGuiKey_RightArrow, {-step, 0});
  arrow(ImGuiKey_UpArrow, {0, step});
  arrow(ImGuiKey_DownArrow, {0, -step});
}

void Camera::fit(const layout::Rect& world, const layout::Rect& area, float margin, bool again) {
  if (moved_ && !again) return;
  moved_ = false;
  const float w = std::max(area.width() - 2 * margin, 1.f), h = std::max(area.height() - 2 * margin, 1.f);
  const float by_width = world.width() > 0 ? w / world.width() : most_zoom,
              by_height = world.height() > 0 ? h / world.height() : most_zoom;
  zoom_ =
      std::clamp(std::min(by_width, by_height), least_zoom, world.width() > 0 || world.height() > 0 ? most_zoom : 1.f);
  offset_ = area.middle() - world.middle() * zoom_;
}

void tooltip(std::string_view text) {
  const float pad = ImGui::GetFontSize() * 0.5f;  // views have none
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(pad, pad));
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 28);
  ImGui::TextUnformatted(begin_of(text), end_of(text));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace pclscope::gui
