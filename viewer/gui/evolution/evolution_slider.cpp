#include "viewer/gui/evolution/evolution_slider.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"

namespace pclscope::gui {
namespace {

using layout::Rect;
using layout::TimeSight;

constexpr float handle_width = 7, caught_within = 6;  // points
constexpr float least_drag = 3;                       // pixels: less is a click
constexpr double least_range = 1e-6;                  // places

struct Range {
  float left, right;
};
Range range_of(const TimeSight& whole, const Selection& selection) {
  if (!selection.period) return {whole.left(), whole.right()};
  const float left = whole.x(selection.period->begin_s);
  return {left, std::max(left, whole.x(selection.period->end_s))};
}

}  // namespace

PeriodSlider::Grip PeriodSlider::grip_at(const TimeSight& whole, const Selection& selection, float x,
                                         float near) const {
  const Range range = range_of(whole, selection);
  const float to_left = std::fabs(x - range.left), to_right = std::fabs(x - range.right);
  if (std::min(to_left, to_right) <= near) return to_left < to_right ? Grip::left : Grip::right;
  if (selection.period && x > range.left && x < range.right) return Grip::middle;
  return Grip::fresh;
}

void PeriodSlider::drag(const layout::TimeAxis& axis, const TimeSight& whole, Selection& selection) {
  const float x = ImGui::GetIO().MousePos.x;
  if (std::fabs(x - pressed_x_) < least_drag && grip_ == Grip::fresh) return;
  const double from = whole.place(pressed_x_), to = whole.place(x), low = axis.place(begin_s_),
               high = axis.place(end_s_);
  SelectedPeriod period{begin_s_, end_s_};
  switch (grip_) {
    case Grip::left: period.begin_s = axis.second(std::min(whole.place(x + offset_), high - least_range)); break;
    case Grip::right: period.end_s = axis.second(std::max(whole.place(x + offset_), low + least_range)); break;
    case Grip::fresh: period = {axis.second(std::min(from, to)), axis.second(std::max(from, to))}; break;
    case Grip::middle: {
      const double by = std::clamp(to - from, -low, 1 - high);
      period = {axis.second(low + by), axis.second(high + by)};
      break;
    }
    case Grip::none: return;
  }
  selection.period = period;
}

void PeriodSlider::draw_back(const EvolutionFrame& frame, const TimeSight& whole, Rect area) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& palette = frame.palette();
  list.AddRectFilled(to_imgui(area.low), to_imgui(area.high), to_imgui(palette.panel));
  std::vector<Mark> none;
  const EvolutionFrame own{frame.scene, frame.picture, whole, frame.gutter, none};
  shade_sections(own, list, area.low.y, area.high.y);
  for (const Period& p : frame.picture.periods) draw_period(own, list, p, area.low.y, area.high.y);
  // Logarithmic like the curve above when the highest is far up.
  const double highest = static_cast<double>(frame.picture.overview_highest);
  const bool log = highest > log_ratios_above;
  const auto share = [&](double ratio) {
    return log ? std::max(0.0, std::log(ratio * 2) / std::log(highest * 2.2)) : ratio / std::max(1.0, 1.1 * highest);
  };
  std::vector<ImVec2> line;
  const ImU32 colour = to_imgui(palette.faint_text);
  const auto flush = [&] {
    if (line.size() > 1)
      list.AddPolyline(line.data(), static_cast<int>(line.size()), colour, ImDrawFlags_None, frame.scene.scale);
    line.clear();
  };
  for (const layout::CurvePoint& p : frame.picture.overview) {
    if (p.apart) flush();
    line.push_back(
        {whole.x_of_place(p.place),
         area.high.y - area.height() * static_cast<float>(share(std::max(1e-6, static_cast<double>(p.ratio))))});
  }
  flush();
  if (!frame.sight.part()) return;
  const float left = whole.x_of_place(frame.sight.low()),
              right = std::max(left + 2, whole.x_of_place(frame.sight.high()));
  list.AddRectFilled({left, area.low.y}, {right, area.low.y + frame.points(3)},
                     to_imgui(palette.successor));  // the part in view
}

void PeriodSlider::draw_range(const EvolutionFrame& frame, const TimeSight& whole, const Selection& selection,
                              Rect area) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& palette = frame.palette();
  const Range range = range_of(whole, selection);
  if (selection.period) {
    const ImU32 shade = to_imgui(palette.background.with_alpha(0.65f));
    list.AddRectFilled(to_imgui(area.low), {range.left, area.high.y}, shade);
    list.AddRectFilled({range.right, area.low.y}, to_imgui(area.high), shade);
    list.AddRect({range.left, area.low.y}, {range.right, area.high.y}, to_imgui(palette.selection.with_alpha(0.8f)));
  }
  const float half = frame.points(handle_width) / 2;
  for (const float x : {range.left, range.right}) {
    const float middle = std::clamp(x, area.low.x + half, std::max(area.low.x + half, area.high.x - half));
    list.AddRectFilled({middle - half, area.low.y}, {middle + half, area.high.y},
                       to_imgui(selection.period ? palette.selection : palette.faint_text), frame.points(2));
    list.AddLine({middle, area.low.y + area.height() * 0.3f}, {middle, area.low.y + area.height() * 0.7f},
                 to_imgui(palette.background), frame.scene.scale);
  }
  const float y = area.middle().y;
  frame.marks.push_back({"slider left", {range.left, y}});
  frame.marks.push_back({"slider right", {range.right, y}});
  frame.marks.push_back({"slider middle", {(range.left + range.right) / 2, y}});
}

void PeriodSlider::draw(const EvolutionFrame& frame, Selection& selection, Rect area) {
  if (area.width() < 8 || area.height() < 4) return;
  TimeSight whole;
  whole.set(frame.picture.axis, frame.sight.left(), frame.sight.right());
  const float margin = frame.points(caught_within);  // handles at the very ends can be caught from both sides
  ImGui::SetCursorScreenPos({frame.sight.left() - margin, area.low.y});
  ImGui::InvisibleButton("slider", {frame.sight.width() + 2 * margin, area.height()});
  const float x = ImGui::GetIO().MousePos.x;
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  if (ImGui::IsItemActivated()) {
    grip_ = grip_at(whole, selection, x, margin);
    pressed_x_ = x;
    const Range range = range_of(whole, selection);
    offset_ = grip_ == Grip::left ? range.left - x : grip_ == Grip::right ? range.right - x : 0;
    begin_s_ = selection.period ? selection.period->begin_s : frame.picture.axis.begin_s();
    end_s_ = selection.period ? selection.period->end_s : frame.picture.axis.end_s();
  }
  if (!active) grip_ = Grip::none;
  if (active && x != pressed_x_ && grip_ != Grip::none) drag(frame.picture.axis, whole, selection);
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    selection.period.reset();
    grip_ = Grip::none;
  }
  const Rect track{{frame.sight.left(), area.low.y}, {frame.sight.right(), area.high.y}};
  draw_back(frame, whole, track);
  draw_range(frame, whole, selection, track);
  const Grip over = active ? grip_ : hovered ? grip_at(whole, selection, x, margin) : Grip::none;
  if (over == Grip::left || over == Grip::right) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (active && grip_ != Grip::none && selection.period)
    return tooltip(period_words(frame.scene, selection.period->begin_s, selection.period->end_s));
  if (!hovered) return;
  std::string words = selection.period
                          ? std::string("selected: ")
                                .append(period_words(frame.scene, selection.period->begin_s, selection.period->end_s))
                          : std::string("no period selected: every view chooses its own");
  tooltip(words.append("\ndrag a handle, the middle, or across an empty part; double click: no period"));
}

}  // namespace pclscope::gui
