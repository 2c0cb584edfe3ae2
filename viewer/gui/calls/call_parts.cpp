#include "viewer/gui/calls/call_parts.hpp"

#include <algorithm>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::CallPicture;
using layout::CallRequest;
using layout::Point;
using layout::Rect;
using layout::TimeAxis;
using layout::TimeRange;

constexpr float legend_points = 190, least_plot_points = 220, scale_points = 52;
constexpr float least_drag = 3;     // pixels: less is a click
constexpr float arrow_speed = 400;  // pixels per second
constexpr int largest_side = 4096;

// A plot may be narrower than nothing where the window is tiny.
float within(float x, Rect plot) { return std::max(plot.low.x, std::min(x, plot.high.x)); }

}  // namespace

CallParts call_parts(Rect area, float scale) {
  const float line = line_height(), pad = 6 * scale;
  CallParts parts{area, area, area, area, area};
  const bool legend = area.width() > (legend_points + least_plot_points) * scale;
  const float right = area.high.x - (legend ? legend_points * scale : pad);
  const float top = area.low.y + line + pad, bottom = std::max(top, area.high.y - line - pad);
  const float left = std::min(right, area.low.x + scale_points * scale);
  parts.header = {area.low, {area.high.x, top}};
  parts.scale = {{area.low.x, top}, {left, bottom}};
  parts.plot = {{left, top}, {right, bottom}};
  parts.axis = {{left, bottom}, {right, area.high.y}};
  parts.legend = {{legend ? right + pad : area.high.x, top}, area.high};
  return parts;
}

bool call_button(const Scene& scene, const char* word, const char* mark, bool pressed, float& right, float top,
                 std::vector<Mark>& marks, const char* words) {
  const layout::Palette& palette = *scene.palette;
  const ImGuiStyle& style = ImGui::GetStyle();
  right -= text_size(word).x + 2 * style.FramePadding.x;
  ImGui::SetCursorScreenPos({right, top});
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(pressed ? palette.text : palette.faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(pressed ? palette.grid : palette.panel));
  const bool clicked = ImGui::SmallButton(word);
  ImGui::PopStyleColor(2);
  if (ImGui::IsItemHovered()) tooltip(words);
  marks.push_back({mark, middle_of_item()});
  right -= style.ItemSpacing.x / 2;
  return clicked;
}

void draw_call_legend(const Scene& scene, Selection& selection, const CallPicture& picture, Rect area,
                      std::vector<Mark>& marks) {
  std::uint64_t calls = 0;  // in the range
  for (const CallPicture::Entry& entry : picture.legend) calls += entry.calls;
  marks.push_back({"calls counted " + std::to_string(calls), area.middle()});
  if (area.width() < 40 * scene.scale) return;
  const layout::Palette& palette = *scene.palette;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = line_height() * 1.25f, square = line * 0.55f, pad = 5 * scene.scale;
  float y = area.low.y;
  double inside = 0;
  const std::size_t coloured = picture.colours.functions().size();
  for (std::size_t i = 0; i < picture.legend.size() && y + line <= area.high.y; ++i, y += line) {
    const CallPicture::Entry& entry = picture.legend[i];
    const bool other = i >= coloured, selected = !other && selection.function == entry.function;
    inside += entry.share;
    ImGui::SetCursorScreenPos({area.low.x, y});
    ImGui::PushID(static_cast<int>(i));
    ImGui::InvisibleButton("function", {area.width(), line});
    ImGui::PopID();
    const std::string name =
        other ? std::to_string(picture.others) + " others" : std::string(record::function_name(entry.function));
    if (ImGui::IsItemHovered())
      tooltip(name + ": " + text::format_share(std::min(1.0, entry.share)) + " of the ranks' time here, " +
              text::format_count(entry.calls) + " calls" +
              (other      ? ""
               : selected ? "\nclick: all functions again"
                          : "\nclick: this function alone"));
    if (!other && ImGui::IsItemClicked()) {
      if (selected) selection.function.reset();
      else selection.function = entry.function;
    }
    marks.push_back({"legend " + name, middle_of_item()});
    if (selected)
      list.AddRectFilled({area.low.x, y}, {area.high.x - pad, y + line}, to_imgui(palette.panel), 3 * scene.scale);
    const bool faded = selection.function && !selected;
    list.AddRectFilled({area.low.x + pad, y + (line - square) / 2},
                       {area.low.x + pad + square, y + (line + square) / 2},
                       to_imgui(picture.colours.at(i).with_alpha(faded ? 0.35f : 1)));
    const std::string share = text::format_share(std::min(1.0, entry.share));
    const float x = area.low.x + 2 * pad + square, right = area.high.x - 2 * pad;
    draw_text(list, {x, y + line * 0.12f}, faded ? palette.faint_text : palette.text, name,
              std::max(1.f, right - x - text_size(share).x - pad));
    draw_text(list, {right - text_size(share).x, y + line * 0.12f}, palette.faint_text, share);
  }
  if (y + line > area.high.y) return;
  draw_text(list, {area.low.x + 2 * pad + square, y + line * 0.12f}, palette.faint_text,
            "computation  " + text::format_share(std::clamp(1 - inside, 0.0, 1.0)), area.width());
}

TimeRange CallPlot::shown() const {
  if (const auto& part = sight_.part()) return *part;
  return all_;
}

std::vector<ViewAxis> CallPlot::axes(bool measures) const {
  if (area_.width() < 1) return {};
  return {{AxisKind::time, area_, [sight = sight_](float x) { return sight.second(x); },
           [sight = sight_](double second) { return sight.x(second); }, measures}};
}

void CallPlot::follow(const Scene& scene, CallRequest wanted, TimeRange all, Rect plot) {
  if (!worker_) {
    auto painter = std::make_shared<layout::CallPainter>();  // the worker's thread alone uses it
    worker_ = std::make_unique<Worker>(
        [painter](const CallRequest& request, const auto& stopping) { return (*painter)(request, stopping); },
        scene.wake);
  }
  area_ = plot;
  if (!(all == all_)) {
    const bool grew = all.begin_s == all_.begin_s && all.end_s > all_.end_s;
    if (!grew) sight_.show_all();
    all_ = all;
  }
  sight_.set(TimeAxis(all.begin_s, all.end_s), plot.low.x, plot.high.x);
  if (auto answer = worker_->answer(); answer && answer != picture_) {
    picture_ = std::move(answer);
    texture_.upload(picture_->image);
  }
  if (scene.live_calls != nullptr) wanted.density = scene.live_calls->density(scene);
  wanted.range = shown();
  wanted.width = std::clamp(static_cast<int>(plot.width()), 1, largest_side);
  wanted.height = std::clamp(static_cast<int>(plot.height()), 1, largest_side);
  if (asked_any_ && wanted == asked_) return;
  asked_ = wanted;
  asked_any_ = true;
  worker_->ask(std::move(wanted));
}

// The last picture stands where its moments are now.
void CallPlot::draw(const Scene& scene, Rect plot, float opacity) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (!picture_ || picture_->image.rgba.empty() || texture_.id() == nullptr) return;
  const TimeRange now = shown(), of = picture_->of.range;
  if (!(now.begin_s < now.end_s)) return;
  const auto x = [&](double second) {
    return plot.low.x + static_cast<float>((second - now.begin_s) / (now.end_s - now.begin_s)) * plot.width();
  };
  list.PushClipRect(to_imgui(plot.low), to_imgui(plot.high), true);
  list.AddImage(texture_.id(), {x(of.begin_s), plot.low.y}, {x(of.end_s), plot.high.y}, {0, 0}, {1, 1},
                to_imgui(layout::Rgba{255, 255, 255}.with_alpha(opacity)));
  list.PopClipRect();
  if (scene.connection.phase != session::Phase::running) return;
  const float edge = x(scene.snapshot->duration_s);
  if (edge > plot.low.x && edge < plot.high.x)
    list.AddLine({edge, plot.low.y}, {edge, plot.high.y}, to_imgui(scene.palette->good.with_alpha(0.6f)));
}

void CallPlot::draw_axis(const Scene& scene, Rect plot, Rect axis) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& palette = *scene.palette;
  list.AddRect(to_imgui(plot.low), to_imgui(plot.high), to_imgui(palette.grid));
  const TimeRange now = shown();
  if (!(now.begin_s < now.end_s)) return;
  const TimeAxis whole(all_.begin_s, all_.end_s);
  const float apart = 80 * scene.scale;
  const double low = sight_.low(), high = sight_.high();
  float free_from = axis.low.x;
  const auto ticks = layout::time_ticks(whole, low, high, static_cast<double>(apart) * sight_.place_per_pixel());
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : now.length_s();
  for (const double second : ticks) {
    const float x = sight_.x(second);
    if (x < plot.low.x || x > plot.high.x + 1) continue;
    list.AddLine({x, plot.high.y}, {x, plot.high.y + 3 * scene.scale}, to_imgui(palette.grid));
    const std::string words = text::format_tick(second, step);
    const float left = std::min(x - text_size(words).x / 2, axis.high.x - text_size(words).x);
    if (left < free_from) continue;
    draw_text(list, {left, plot.high.y + 4 * scene.scale}, palette.faint_text, words);
    free_from = left + text_size(words).x + 10 * scene.scale;
  }
}

Rect CallPlot::framed(Point mouse, Rect plot) const {
  const auto y = [&](float at) { return std::max(plot.low.y, std::min(at, plot.high.y)); };
  const float x0 = within(pressed_.x, plot), x1 = within(mouse.x, plot), y0 = y(pressed_.y), y1 = y(mouse.y);
  return {{std::min(x0, x1), std::min(y0, y1)}, {std::max(x0, x1), std::max(y0, y1)}};
}

bool CallPlot::react(const Scene& scene, Selection& selection, Rect plot, const char* id, bool rectangles) {
  const ImGuiIO& io = ImGui::GetIO();
  ImGui::SetCursorScreenPos(to_imgui(plot.low));
  ImGui::InvisibleButton(id, {std::max(plot.width(), 1.f), std::max(plot.height(), 1.f)});
  hovered_ = ImGui::IsItemHovered();
  const float x = io.MousePos.x;
  const Point mouse = to_point(io.MousePos);
  bool clicked = false;
  rectangle_.reset();
  if (ImGui::IsItemActivated()) {
    pressed_ = mouse;
    dragging_ = double_clicked_ = false;
    framing_ = rectangles && io.KeyShift;
  }
  if (ImGui::IsItemActive() &&
      (std::fabs(x - pressed_.x) >= least_drag || (framing_ && std::fabs(mouse.y - pressed_.y) >= least_drag)))
    dragging_ = true;
  const auto chosen = [&] {
    const double a = second_at(within(pressed_.x, plot)), b = second_at(within(x, plot));
    return SelectedPeriod{std::min(a, b), std::max(a, b)};
  };
  if (ImGui::IsItemActive() && dragging_ && framing_) {
    const Rect box = framed(mouse, plot);
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(to_imgui(box.low), to_imgui(box.high), to_imgui(scene.palette->selection.with_alpha(0.15f)));
    list.AddRect(to_imgui(box.low), to_imgui(box.high), to_imgui(scene.palette->selection));
  } else if (ImGui::IsItemActive() && dragging_) {
    const SelectedPeriod period = chosen();
    ImGui::GetWindowDrawList()->AddRectFilled({x_of(period.begin_s), plot.low.y}, {x_of(period.end_s), plot.high.y},
                                              to_imgui(scene.palette->selection.with_alpha(0.15f)));
    tooltip(text::format_seconds(period.begin_s) + " to " + text::format_seconds(period.end_s));
  }
  if (ImGui::IsItemDeactivated()) {
    clicked = !dragging_;
    if (dragging_ && framing_) rectangle_ = framed(mouse, plot);
    else if (const SelectedPeriod period = chosen(); dragging_ && period.begin_s < period.end_s)
      selection.period = period;
    dragging_ = framing_ = false;
  }
  if (hovered_ && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    selection.period.reset();
    double_clicked_ = true;
  }
  const bool pans = ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseDown(ImGuiMouseButton_Middle);
  if (!pans) panning_ = false;
  if (hovered_ && (ImGui::IsMouseClicked(ImGuiMouseButton_Right) || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)))
    panning_ = true;
  if (panning_) sight_.pan(io.MouseDelta.x);
  if (!hovered_) return clicked;
  sight_.zoom(x, io.MouseWheel);
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) sight_.show_all();
  if (ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_LeftArrow))) sight_.pan(arrow_speed * io.DeltaTime);
  if (ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_RightArrow))) sight_.pan(-arrow_speed * io.DeltaTime);
  return clicked;
}

void CallPlot::draw_period(const Scene& scene, const Selection& selection, Rect plot) const {
  if (!selection.period) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float left = within(x_of(selection.period->begin_s), plot),
              right = std::max(left, within(x_of(selection.period->end_s), plot));
  const layout::Rgba shade = scene.palette->background.with_alpha(0.55f);
  list.AddRectFilled(to_imgui(plot.low), {left, plot.high.y}, to_imgui(shade));
  list.AddRectFilled({right, plot.low.y}, to_imgui(plot.high), to_imgui(shade));
  list.AddRect({left, plot.low.y}, {std::max(right, left + 1), plot.high.y},
               to_imgui(scene.palette->selection.with_alpha(0.8f)));
}

}  // namespace pclscope::gui
