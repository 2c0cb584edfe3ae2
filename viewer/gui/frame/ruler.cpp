#include "viewer/gui/frame/ruler.hpp"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;

const ViewAxis* axis_at(const std::vector<ViewAxis>& axes, Point mouse) {
  for (const ViewAxis& axis : axes)
    if (axis.area.holds(mouse)) return &axis;
  return nullptr;
}

// Whether the axis shows the moment: what lies beyond it may be mapped to its end.
bool shows(const ViewAxis& axis, double at) {
  const float x = axis.x(at);
  if (!(x >= axis.area.low.x && x <= axis.area.high.x)) return false;
  const double back = axis.moment(x),
               pixel = std::max(std::fabs(axis.moment(x + 1) - back), std::fabs(back - axis.moment(x - 1)));
  return std::fabs(back - at) <= pixel;
}

void draw_line(const ViewAxis& axis, double at, layout::Rgba colour) {
  if (!shows(axis, at)) return;
  const float x = axis.x(at);
  ImGui::GetForegroundDrawList()->AddLine({x, axis.area.low.y}, {x, axis.area.high.y}, to_imgui(colour));
}

}  // namespace

std::string ruler_words(AxisKind kind, double at, std::optional<double> from) {
  if (!std::isfinite(at)) return "-";
  std::string words;
  if (kind == AxisKind::time) {
    char text[64];
    std::snprintf(text, sizeof text, "%.6f s", at);
    words = text;
    if (from) words += ", " + text::format_seconds(std::fabs(at - *from)) + (at < *from ? " earlier" : " later");
    return words;
  }
  const auto step = [](double of) { return static_cast<std::int64_t>(std::floor(of)); };
  words = "step " + std::to_string(step(at));
  if (!from) return words;
  const std::int64_t difference = step(at) - step(*from);
  return words + ", " + std::to_string(std::abs(difference)) + (std::abs(difference) == 1 ? " step " : " steps ") +
         (difference < 0 ? "earlier" : "later");
}

void Ruler::begin(const std::vector<ViewAxis>& axes) {
  ImGuiIO& io = ImGui::GetIO();
  if (io.KeyShift && ImGui::IsMouseClicked(0)) {
    const ViewAxis* axis = axis_at(axes, to_point(io.MousePos));
    if (axis != nullptr && axis->measures) start_ = Start{axis->kind, axis->moment(io.MousePos.x)};
  }
  taken_ = start_.has_value();
  if (!taken_) return;
  button_ = {io.MouseDown[0],          io.MouseClicked[0],      io.MouseReleased[0],
             io.MouseDoubleClicked[0], io.MouseClickedCount[0], io.MouseDownDuration[0]};
  put({});
}

void Ruler::put(const Button& button) {
  ImGuiIO& io = ImGui::GetIO();
  io.MouseDown[0] = button.down;
  io.MouseClicked[0] = button.clicked;
  io.MouseReleased[0] = button.released;
  io.MouseDoubleClicked[0] = button.double_clicked;
  io.MouseClickedCount[0] = button.count;
  io.MouseDownDuration[0] = button.duration;
}

void Ruler::draw(const Scene& scene, const std::vector<ViewAxis>& axes) {
  ImGuiIO& io = ImGui::GetIO();
  if (taken_) {
    put(button_);
    if (!button_.down) start_.reset();
  }
  reading_.reset();
  const Point mouse = to_point(io.MousePos);
  const ViewAxis* axis = axis_at(axes, mouse);
  if (!io.KeyShift || axis == nullptr || (start_ && start_->kind != axis->kind)) return;
  Reading reading{axis->kind, axis->moment(mouse.x), std::nullopt, 0};
  if (start_) reading.from = start_->at;
  const layout::Palette& p = *scene.palette;
  for (const ViewAxis& other : axes) {
    if (other.kind != axis->kind) continue;
    if (reading.from) draw_line(other, *reading.from, p.warning.with_alpha(0.6f));
    draw_line(other, reading.at, p.warning);
    reading.lines += shows(other, reading.at);
  }
  // Beside the line, at the upper edge of the view under the mouse.
  const std::string words = ruler_words(reading.kind, reading.at, reading.from);
  const Point size = text_size(words), pad{5 * scene.scale, 2 * scene.scale};
  float left = mouse.x + 4 * scene.scale;
  if (left + size.x + 2 * pad.x > io.DisplaySize.x) left = mouse.x - 4 * scene.scale - size.x - 2 * pad.x;
  const Point low{left, axis->area.low.y};
  ImDrawList& list = *ImGui::GetForegroundDrawList();
  list.AddRectFilled(to_imgui(low), to_imgui(low + size + pad + pad), to_imgui(p.panel));
  list.AddRect(to_imgui(low), to_imgui(low + size + pad + pad), to_imgui(p.warning));
  draw_text(list, low + pad, p.text, words);
  reading_ = reading;
}

}  // namespace pclscope::gui
