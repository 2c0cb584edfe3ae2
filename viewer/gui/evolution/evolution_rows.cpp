// The middle part of the evolution view: a row of circles per region.
#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/evolution/evolution_frame.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::EvolutionCircle;
using layout::EvolutionRow;
using layout::Point;
using layout::Rect;

constexpr float least_row = 18, tallest_row = 36;  // points
constexpr float largest_circle = 0.46f;            // of a row's height
constexpr float least_radius = 1.3f;               // points: colour can be seen
constexpr float beyond_right = 7;                  // points, up to the scroll bar
constexpr std::size_t around = 4;                  // rows beyond the edge that are ready

float radius_of(const EvolutionFrame& frame, float row_height, const EvolutionCircle& c) {
  return std::max(c.size * row_height * largest_circle, frame.points(least_radius));
}

// The circle under the mouse; the smaller ones win.
const EvolutionCircle* circle_at(const EvolutionFrame& frame, const EvolutionRow& row, float row_height, Point middle,
                                 Point mouse) {
  const EvolutionCircle* found = nullptr;
  for (const EvolutionCircle& c : row.circles) {
    const Point at{frame.sight.x_of_place(c.place), middle.y};
    if (layout::distance(at, mouse) > radius_of(frame, row_height, c) + frame.points(2)) continue;
    if (!found || c.size < found->size) found = &c;
  }
  return found;
}

const Period* period_at(const EvolutionRow& row, double second) {
  for (const Period& p : row.periods) {
    if (p.begin_s <= second && second < p.end_s) return &p;
  }
  return nullptr;
}

bool is_present(const Scene& scene, std::int32_t region) {
  if (!scene.snapshot) return false;
  const auto& regions = scene.snapshot->regions;
  return std::any_of(regions.begin(), regions.end(), [&](const Region& r) { return r.id == region; });
}

// Its name, and its worst circle.
void mark_row(const EvolutionFrame& frame, const EvolutionRow& row, float y) {
  const std::string number = std::to_string(row.region);
  frame.marks.push_back({std::string("row ").append(number), {(frame.gutter + frame.sight.left()) / 2, y}});
  const EvolutionCircle* worst = nullptr;
  for (const EvolutionCircle& c : row.circles) {
    if (!worst || c.ratio > worst->ratio) worst = &c;
  }
  if (worst) frame.marks.push_back({std::string("circle ").append(number), {frame.sight.x_of_place(worst->place), y}});
}

int segments(float radius) { return radius < 4 ? 8 : radius < 9 ? 12 : 18; }

}  // namespace

bool EvolutionRows::fit(const EvolutionFrame& frame, Rect area) {
  return area.height() >= frame.points(least_row) * static_cast<float>(frame.picture.order.size());
}

void EvolutionRows::place(const EvolutionFrame& frame, Rect area) {
  const auto count = static_cast<float>(std::max<std::size_t>(1, frame.picture.order.size()));
  row_height = std::clamp(area.height() / count, frame.points(least_row), frame.points(tallest_row));
  shown = static_cast<std::size_t>(std::max(0.f, area.height()) / row_height) + 2 * around;
}

void EvolutionRows::draw_name(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                              const EvolutionRow& row, float top) {
  const layout::Palette& palette = frame.palette();
  const float line = text_size("0").y, square = line * 0.7f, y = top + (row_height - line) / 2, pad = frame.points(6);
  const bool selected = selection.region == row.region;
  if (selected)
    list.AddRectFilled({frame.gutter, top + 1}, {frame.gutter + frame.points(2), top + row_height - 1},
                       to_imgui(palette.selection));
  const float x = frame.gutter + pad;
  list.AddRectFilled({x, y + (line - square) / 2}, {x + square, y + (line + square) / 2},
                     to_imgui(palette.region(row.region)));
  const std::string ratio = text::format_times(row.average);
  const float room = frame.sight.left() - pad - (x + square + pad), number = text_size(ratio).x;
  const std::string id = std::to_string(row.region);
  std::string name = std::string("region ").append(id);
  if (text_size(name).x + number + pad >= room) name = id;  // its ratio says more than the word
  const layout::Rgba colour = is_present(frame.scene, row.region)
                                  ? (selected ? palette.text : palette.text.with_alpha(0.8f))
                                  : palette.faint_text.with_alpha(0.6f);
  const bool both = text_size(name).x + number + pad < room;
  draw_text(list, {x + square + pad, y}, colour, name, std::max(1.f, room));
  if (both) draw_text(list, {frame.sight.left() - pad - number, y}, palette.faint_text, ratio);
}

void EvolutionRows::draw_row(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                             const EvolutionRow& row, float top) {
  const layout::Palette& palette = frame.palette();
  const float bottom = top + row_height, middle = (top + bottom) / 2;
  list.AddRectFilled({frame.sight.left(), bottom - 1}, {frame.sight.right(), bottom},
                     to_imgui(palette.grid.with_alpha(0.5f)));
  draw_name(frame, list, selection, row, top);
  // The newest circle is not cut in half.
  list.PushClipRect({frame.sight.left(), top}, {frame.sight.right() + frame.points(beyond_right), bottom}, true);
  for (const Period& p : row.periods) draw_period(frame, list, p, top + 1, bottom - 2);
  for (const EvolutionCircle& c : row.circles) {
    const float x = frame.sight.x_of_place(c.place), radius = radius_of(frame, row_height, c);
    if (x + radius < frame.sight.left() || x - radius > frame.sight.right()) continue;
    list.AddCircleFilled({x, middle}, radius, to_imgui(palette.latency(static_cast<double>(c.ratio))),
                         segments(radius));
  }
  if (selection.region == row.region && selection.period) {
    const float left = frame.sight.x(selection.period->begin_s),
                right = std::max(frame.sight.x(selection.period->end_s), left + 2);
    list.AddRect({left, top}, {right, bottom - 1}, to_imgui(palette.selection), 0, ImDrawFlags_None,
                 1.5f * frame.scene.scale);
  }
  list.PopClipRect();
}

void EvolutionRows::react(const EvolutionFrame& frame, Selection& selection, const EvolutionRow& row, float top) {
  if (!ImGui::IsItemHovered()) return;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const bool clicked = ImGui::IsItemClicked();
  if (clicked) selection.region = row.region;
  if (mouse.x < frame.sight.left()) return tooltip(row_words(frame, row));
  const EvolutionCircle* circle = circle_at(frame, row, row_height, {0, top + row_height / 2}, mouse);
  const double second = circle ? (circle->begin_s + circle->end_s) / 2 : frame.sight.second(mouse.x);
  const Period* period = period_at(row, second);
  if (circle) {
    const Point at{frame.sight.x_of_place(circle->place), top + row_height / 2};
    ImGui::GetWindowDrawList()->AddCircle(to_imgui(at), radius_of(frame, row_height, *circle) + frame.points(1.5f),
                                          to_imgui(frame.palette().selection), 20, 1.5f * frame.scene.scale);
    tooltip(circle_words(frame, row, *circle));
  } else if (period) {
    tooltip(std::string("region ")
                .append(std::to_string(row.region))
                .append(", ")
                .append(period_words(frame.scene, *period))
                .append("\nclick: select this period"));
  }
  if (!clicked) return;
  if (period) selection.period = SelectedPeriod{period->begin_s, period->end_s};
  else if (circle) selection.period = SelectedPeriod{circle->begin_s, circle->end_s};
}

// Over the names; over the circles the wheel zooms.
void EvolutionRows::scroll_by_wheel(const EvolutionFrame& frame, float most) const {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsWindowHovered() || io.MousePos.x >= frame.sight.left() || io.MouseWheel == 0) return;
  ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() - io.MouseWheel * 3 * row_height, 0.f, most));
}

void EvolutionRows::scroll_to_chosen(const EvolutionFrame& frame, float height) {
  if (!scroll_to) return;
  const auto at = std::find(frame.picture.order.begin(), frame.picture.order.end(), *scroll_to);
  const float top = row_height * static_cast<float>(at - frame.picture.order.begin()), now = ImGui::GetScrollY();
  const bool hidden = at != frame.picture.order.end() && (top < now || top + row_height > now + height);
  if (hidden) ImGui::SetScrollY(std::max(0.f, top - height / 3));
  scroll_to.reset();
}

void EvolutionRows::draw(const EvolutionFrame& frame, Selection& selection, Rect area) {
  if (area.height() < 1 || area.width() < 1) return;
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, frame.points(7));
  ImGui::BeginChild("rows", {area.width(), area.height()}, false,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav);
  ImGui::PopStyleVar(2);
  const Point origin = to_point(ImGui::GetCursorScreenPos());  // of the first row, scrolled
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = row_height * static_cast<float>(frame.picture.order.size());
  scroll_by_wheel(frame, std::max(0.f, height - area.height()));
  const auto seen = static_cast<std::size_t>(std::max(0.f, ImGui::GetScrollY()) / row_height);
  first = seen > around ? seen - around : 0;
  shade_sections(frame, list, area.low.y, area.high.y);
  for (std::size_t i = 0; i < frame.picture.rows.size(); ++i) {
    const EvolutionRow& row = frame.picture.rows[i];
    const float top = origin.y + row_height * static_cast<float>(frame.picture.first_row + i);
    if (top + row_height <= area.low.y || top >= area.high.y) continue;
    draw_row(frame, list, selection, row, top);
    ImGui::SetCursorScreenPos({area.low.x, top});
    ImGui::PushID(row.region);
    ImGui::InvisibleButton("row", {frame.sight.right() - area.low.x, row_height});
    ImGui::PopID();
    react(frame, selection, row, top);
    const float middle = top + row_height / 2;
    if (middle > area.low.y && middle < area.high.y) mark_row(frame, row, middle);
  }
  shade_selected(frame, list, selection, area.low.y, area.high.y);
  ImGui::SetCursorScreenPos(to_imgui(origin));
  ImGui::Dummy({1, std::max(1.f, height)});
  scroll_to_chosen(frame, area.height());
  ImGui::EndChild();
}

}  // namespace pclscope::gui
