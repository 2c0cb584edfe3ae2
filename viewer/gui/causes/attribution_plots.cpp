#include "viewer/gui/causes/attribution_plots.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr std::array<const char*, 3> names{"mapping plot", "balance plot", "transfer plot"};
constexpr std::array<float, 3> full_weights{1.15f, 0.8f, 1.1f};
constexpr float left_points = 44, side_points = 128, least_plot_points = 22, least_side_width_points = 380;
constexpr double zoom_per_notch = 0.8;
constexpr double shortest_range_s = 1e-6;

struct Boxes {
  Rect title, plot, side;
};

// As many plots as fit, from the top, over a line for the axis.
std::vector<Boxes> split(const Rect& area, float scale, bool transfers) {
  const float line = ImGui::GetFontSize(), title = line + 4 * scale, gap = 7 * scale, axis = line + 5 * scale;
  std::size_t count = names.size();
  const auto room = [&] { return area.height() - axis - static_cast<float>(count) * (title + gap); };
  while (count > 1 && room() < static_cast<float>(count) * least_plot_points * scale) --count;
  const float side = area.width() >= least_side_width_points * scale ? side_points * scale : 0;
  const float left = std::min(left_points * scale, area.width() / 4), right = area.high.x - std::max(side, 6 * scale);
  if (room() < 4 || right - area.low.x - left < 8) return {};
  std::array<float, 3> weights = full_weights;
  if (!transfers) weights[2] = 0.45f;
  float weight = 0;
  for (std::size_t i = 0; i < count; ++i) weight += weights[i];
  std::vector<Boxes> boxes;
  float y = area.low.y;
  for (std::size_t i = 0; i < count; ++i) {
    const float height = std::floor(room() * weights[i] / weight);
    Boxes b;
    b.title = {{area.low.x + left, y}, {area.high.x, y + title}};
    b.plot = {{area.low.x + left, y + title}, {right, y + title + height}};
    if (side > 0) b.side = {{right, y + title}, {area.high.x, y + title + height}};
    boxes.push_back(b);
    y += title + height + gap;
  }
  return boxes;
}

void draw_times(const PlotPanel& panel, bool labels) {
  const layout::Plot& p = panel.plot;
  const int most = std::max(1, static_cast<int>(p.area.width() / (5.5f * ImGui::GetFontSize())));
  for (const double at : ticks(p.time.begin_s, p.time.end_s, most)) {
    const float x = p.x(at);
    panel.list->AddLine({x, p.area.low.y}, {x, p.area.high.y}, to_imgui(panel.palette->grid.with_alpha(0.5f)));
    if (!labels) continue;
    const std::string text = at == 0 ? "0 s" : text::format_moment(at);
    const float width = text_size(text).x;
    const float left = std::clamp(x - width / 2, p.area.low.x, std::max(p.area.low.x, p.area.high.x - width));
    draw_text(*panel.list, {left, p.area.high.y + 3 * panel.scale}, panel.palette->faint_text, text);
  }
}

// An interval over the whole height.
void shade(const PlotPanel& panel, const SelectedPeriod& period, float inside, float border) {
  if (!(period.end_s >= panel.plot.time.begin_s) || !(period.begin_s <= panel.plot.time.end_s)) return;
  const float left = std::clamp(panel.plot.x(period.begin_s), panel.plot.area.low.x, panel.plot.area.high.x);
  const float right = std::clamp(panel.plot.x(period.end_s), panel.plot.area.low.x, panel.plot.area.high.x);
  const layout::Rgba colour = panel.palette->selection;
  panel.list->AddRectFilled({left, panel.plot.area.low.y}, {std::max(right, left + 1), panel.plot.area.high.y},
                            to_imgui(colour.with_alpha(inside)));
  if (border <= 0) return;
  for (const float x : {left, right})
    panel.list->AddLine({x, panel.plot.area.low.y}, {x, panel.plot.area.high.y}, to_imgui(colour.with_alpha(border)),
                        panel.scale);
}

}  // namespace

void AttributionPlots::look_at(const Scene& scene) {
  if (seen_ == scene.snapshot) return;
  seen_ = scene.snapshot;
  slices_ = seen_ ? layout::usable_slices(seen_->attribution) : std::vector<layout::UsableSlice>();
  all_ = layout::time_range(slices_);
  if (!shown_ || !all_) return shown_.reset();
  shown_ = layout::TimeRange{std::max(shown_->begin_s, all_->begin_s), std::min(shown_->end_s, all_->end_s)};
  if (shown_->length_s() <= 0) shown_.reset();
}

void AttributionPlots::zoom(const layout::Plot& plot) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) shown_.reset();
  const double length = plot.time.length_s();
  layout::TimeRange range = plot.time;
  if (io.MouseWheel != 0) {
    const double at = plot.moment(io.MousePos.x),
                 factor = std::pow(zoom_per_notch, std::clamp(io.MouseWheel, -10.f, 10.f));
    range = {at - (at - range.begin_s) * factor, at + (range.end_s - at) * factor};
  } else if (ImGui::IsMouseDragging(ImGuiMouseButton_Right) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle)) {
    const double by = std::clamp(-static_cast<double>(io.MouseDelta.x / plot.area.width()) * length,
                                 all_->begin_s - range.begin_s, all_->end_s - range.end_s);
    range = {range.begin_s + by, range.end_s + by};
  } else {
    return;
  }
  range = {std::max(range.begin_s, all_->begin_s), std::min(range.end_s, all_->end_s)};
  if (range.length_s() < std::max(shortest_range_s, all_->length_s() * 1e-5)) return;
  if (range == *all_) shown_.reset();
  else shown_ = range;
}

void AttributionPlots::react(const PlotPanel& panel, const char* id, Selection& selection, float scale) {
  const layout::Plot& plot = panel.plot;
  ImGui::SetCursorScreenPos(to_imgui(plot.area.low));
  ImGui::InvisibleButton(id, {std::max(plot.area.width(), 1.f), std::max(plot.area.height(), 1.f)});
  const double at = plot.moment(panel.mouse().x);
  if (ImGui::IsItemHovered()) {
    zoom(plot);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) selection.period.reset();
  }
  if (ImGui::IsItemActivated()) drag_from_s_ = at;
  if (!drag_from_s_ || (!ImGui::IsItemActive() && !ImGui::IsItemDeactivated())) return;
  const bool far = std::fabs(plot.x(at) - plot.x(*drag_from_s_)) >= 4 * scale;
  const SelectedPeriod dragged{std::min(*drag_from_s_, at), std::max(*drag_from_s_, at)};
  if (far && ImGui::IsItemActive()) {
    shade(panel, dragged, 0.18f, 0.8f);
    tooltip(time_text({dragged.begin_s, dragged.end_s}));
  }
  if (!ImGui::IsItemDeactivated()) return;
  drag_from_s_.reset();
  if (far && dragged.end_s > dragged.begin_s) selection.period = dragged;
}

void AttributionPlots::draw_marks_on(const PlotPanel& panel, const Selection& selection,
                                     const std::optional<SelectedPeriod>& hinted) const {
  panel.list->PushClipRect(to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high), true);
  if (hinted && hinted != selection.period) shade(panel, *hinted, 0.06f, 0);
  if (selection.period) shade(panel, *selection.period, 0, 0.7f);
  if (pointed_s_) {
    const float x = panel.plot.x(*pointed_s_);
    panel.list->AddLine({x, panel.plot.area.low.y}, {x, panel.plot.area.high.y},
                        to_imgui(panel.palette->faint_text.with_alpha(0.6f)));
  }
  panel.list->PopClipRect();
  panel.list->AddRect(to_imgui(panel.plot.area.low), to_imgui(panel.plot.area.high), to_imgui(panel.palette->grid));
}

void AttributionPlots::draw_panel(std::size_t which, const Scene& scene, Selection& selection, PlotPanel panel) {
  react(panel, names[which], selection, panel.scale);
  panel.hovered = ImGui::IsItemHovered() && !ImGui::IsItemActive();
  panel.period = selection.period;
  if (which == 0) draw_mapping_plot(panel);
  if (which == 1) draw_balance_plot(panel);
  if (which == 2) transfer_.draw(panel, scene);
}

void AttributionPlots::draw(const Scene& scene, Selection& selection, const layout::Rect& area,
                            const std::optional<SelectedPeriod>& hinted) {
  look_at(scene);
  areas_ = {};
  PlotPanel panel;
  panel.list = ImGui::GetWindowDrawList();
  panel.palette = scene.palette;
  panel.scale = scene.scale;
  panel.snapshot = seen_.get();
  panel.slices = &slices_;
  panel.plot.area = area;
  if (!seen_ || !all_) {
    const bool none = !seen_ || seen_->messages.matched == 0;
    return draw_absence(
        panel, none ? "nothing to show: no messages were matched so far"
                    : "no measures over time: they are made every half second of a running job; a dump of an older "
                      "pclscope has none");
  }
  panel.plot.time = shown_ ? *shown_ : *all_;
  const std::vector<Boxes> boxes = split(area, scene.scale, has_transfers(seen_->attribution, slices_));
  pointed_s_.reset();
  for (const Boxes& box : boxes) {
    panel.plot.area = box.plot;
    if (ImGui::IsWindowHovered() && box.plot.holds(panel.mouse())) pointed_s_ = panel.plot.moment(panel.mouse().x);
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    areas_[i] = boxes[i].plot;
    PlotPanel one = panel;
    one.title = boxes[i].title;
    one.plot.area = boxes[i].plot;
    one.side = boxes[i].side;
    if (selection.period) shade(one, *selection.period, 0.1f, 0);  // behind the curves
    draw_times(one, i + 1 == boxes.size());
    draw_panel(i, scene, selection, one);
    draw_marks_on(one, selection, hinted);
  }
}

std::vector<ViewAxis> AttributionPlots::axes() const {
  std::vector<ViewAxis> found;
  if (!all_) return found;
  for (const Rect& area : areas_) {
    if (area.width() <= 0) continue;
    layout::Plot plot;
    plot.area = area;
    plot.time = shown_ ? *shown_ : *all_;
    found.push_back({AxisKind::time, area, [plot](float x) { return plot.moment(x); },
                     [plot](double second) { return plot.x(second); }});
  }
  return found;
}

std::vector<Mark> AttributionPlots::marks() const {
  std::vector<Mark> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (areas_[i].width() <= 0) continue;
    found.push_back({names[i], areas_[i].middle()});
    const float quarter = areas_[i].width() / 4;
    found.push_back({std::string(names[i]).append(" left"), areas_[i].middle() - Point{quarter, 0}});
    found.push_back({std::string(names[i]).append(" right"), areas_[i].middle() + Point{quarter, 0}});
  }
  if (!found.empty()) found.push_back({"plotted slices " + std::to_string(slices_.size()), areas_[0].middle()});
  return found;
}

}  // namespace pclscope::gui
