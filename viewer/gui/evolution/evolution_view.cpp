// When were messages late: regions over time (PCLVis 5.1). Drawn here; computed in layout/evolution_picture.
#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/evolution/evolution_frame.hpp"
#include "viewer/gui/evolution/evolution_heat.hpp"
#include "viewer/gui/evolution/evolution_slider.hpp"
#include "viewer/layout/latest.hpp"

namespace pclscope::gui {
namespace {

using layout::EvolutionPicture;
using layout::EvolutionQuestion;
using layout::Point;
using layout::Rect;

constexpr std::size_t most_circles = 1500;  // on the screen: beyond, drawing takes too long
constexpr float gutter_points = 118, column_pixels = 2, slider_points = 26, right_points = 14;
constexpr float curve_share = 0.34f, highest_curve = 150, least_rows = 40, tallest_row_points = 36;  // points
constexpr float arrow_speed = 400;  // pixels per second

// Where the parts are.
struct Parts {
  Rect header, curve, rows, labels, slider;
};
Parts parts_of(Rect area, float scale, std::size_t regions) {
  const float line = text_size("0").y, pad = 4 * scale;
  Parts parts{area, area, area, area, area};
  float top = area.low.y, bottom = area.high.y - pad;
  const auto take_bottom = [&](float height) {
    const float from = std::max(top, bottom - height);
    const Rect taken{{area.low.x, from}, {area.high.x, bottom}};
    bottom = from;
    return taken;
  };
  const auto take_top = [&](float height) {
    const float until = std::min(bottom, top + height);
    const Rect taken{{area.low.x, top}, {area.high.x, until}};
    top = until;
    return taken;
  };
  parts.slider = take_bottom(slider_points * scale);
  parts.labels = take_bottom(line + 7 * scale);
  parts.header = take_top(line + 6 * scale);
  const float left = bottom - top;
  // Few regions leave room for a higher curve.
  const float spare =
      left - tallest_row_points * scale * static_cast<float>(std::min<std::size_t>(regions, 100)) - 6 * scale;
  const float curve = std::max(std::min(highest_curve * scale, left * curve_share), std::min(spare, left * 0.6f));
  parts.curve = take_top(left - curve < least_rows * scale || curve < 40 * scale ? 0 : curve);
  if (parts.curve.height() > 0) take_top(6 * scale);
  parts.rows = {{area.low.x, top}, {area.high.x, bottom}};
  return parts;
}

std::string without_history(const Scene& scene) {
  if (!scene.snapshot || !scene.history) return "waiting for the first window";
  if (!scene.history->regions().empty()) return "";
  const bool stored = scene.connection.phase == session::Phase::stored;
  if (stored && !scene.snapshot->finished) return "no regions: the file lacks the end of the run";
  return stored ? "no regions: no messages between ranks were matched"
                : "no regions: no messages between ranks were matched so far";
}

class EvolutionView final : public View {
 public:
  const char* title() const override { return "when: evolution"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (plot_.width() < 1) return {};
    return {{AxisKind::time, plot_, [sight = sight_](float x) { return sight.second(x); },
             [sight = sight_](double second) { return sight.x(second); }}};
  }
  bool unsettled() const override { return (worker_ && worker_->busy()) || slider_.dragging() || panning_; }

 private:
  void ask(const Scene& scene, const Selection& selection);
  bool shows_map() const { return !rows_fit_ && !rows_chosen_ && map_height_ > 0; }
  void draw_parts(const Scene& scene, Selection& selection, const Parts& parts);
  void draw_buttons(const Scene& scene, Rect area);
  bool button(const char* word, const char* mark, bool pressed, float& right, float top,
              const layout::Palette& palette);
  void move(Rect plot);
  void draw_now(const EvolutionFrame& frame, const Parts& parts) const;

  using Worker = layout::Latest<EvolutionQuestion, EvolutionPicture>;
  std::shared_ptr<const EvolutionPicture> picture_ = std::make_shared<const EvolutionPicture>();
  EvolutionQuestion asked_;
  layout::TimeSight sight_;
  Rect plot_{};  // curve, rows and times, as drawn last
  PeriodSlider slider_;
  EvolutionRows rows_;
  EvolutionHeat heat_;
  bool rows_fit_ = true;
  bool rows_chosen_ = false;  // by the user: rows that scroll, though not all fit
  int map_height_ = 0;        // pixels
  std::vector<Mark> marks_;
  std::optional<std::int32_t> shown_region_;
  std::optional<bool> chosen_compressed_;  // by the user; none: linear while the run goes on, as plots below are
  bool compressed_ = true, panning_ = false, asked_any_ = false;
  std::unique_ptr<Worker> worker_;  // last: its thread ends first
};

void EvolutionView::ask(const Scene& scene, const Selection& selection) {
  compressed_ = chosen_compressed_.value_or(scene.connection.phase != session::Phase::running);
  EvolutionQuestion q;
  q.history = scene.history;
  q.order = asked_.order;
  q.region = selection.region;
  q.compressed = compressed_;
  q.now_s = scene.now_s;
  q.visible = sight_.part();
  const float width = std::max(1.f, sight_.width());
  const float slot = std::max(rows_.row_height * 0.92f,
                              width * static_cast<float>(std::max<std::size_t>(1, rows_.shown)) / most_circles);
  q.slot = static_cast<double>(std::min(1.f, slot / width));
  q.column = static_cast<double>(std::min(1.f, column_pixels * scene.scale / width));
  q.first_row = rows_.first;
  q.rows = rows_.shown;
  q.theme = scene.palette->theme;
  if (shows_map()) {
    q.heat_width = static_cast<int>(std::lround(width));
    q.heat_height = map_height_;
    q.first_row = q.rows = 0;
  }
  if (asked_any_ && q == asked_) return;
  q.order = picture_->order;  // does not count as a change by itself
  asked_ = q;
  asked_any_ = true;
  worker_->ask(std::move(q));
}

void EvolutionView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  plot_ = {};
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  const Rect area{low, low + size};
  if (size.x < 8 || size.y < 8) return;
  if (const std::string words = without_history(scene); !words.empty()) {
    ImDrawList& list = *ImGui::GetWindowDrawList();
    return draw_text(list, {low.x + std::max(2.f, (size.x - text_size(words).x) / 2), area.middle().y},
                     scene.palette->faint_text, words, size.x);
  }
  if (!worker_)
    worker_ = std::make_unique<Worker>(
        [](const EvolutionQuestion& q, const auto&) { return layout::evolution_picture(q); }, scene.wake);
  if (const auto answer = worker_->answer()) picture_ = answer;
  const Parts parts = parts_of(area, scene.scale, picture_->order.size());
  draw_parts(scene, selection, parts);
  ask(scene, selection);
}

void EvolutionView::draw_parts(const Scene& scene, Selection& selection, const Parts& parts) {
  const float gutter = std::min(gutter_points * scene.scale, parts.rows.width() * 0.3f),
              right = parts.rows.high.x - right_points * scene.scale;
  sight_.set(picture_->axis, parts.rows.low.x + gutter, right);
  const EvolutionFrame frame{scene, *picture_, sight_, parts.rows.low.x, marks_};
  rows_.place(frame, parts.rows);
  rows_fit_ = EvolutionRows::fit(frame, parts.rows);
  map_height_ = static_cast<int>(std::lround(std::max(0.f, parts.rows.height())));
  if (selection.region != shown_region_) rows_.scroll_to = shown_region_ = selection.region;
  draw_buttons(scene, parts.header);
  if (picture_->order.empty()) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  draw_evolution_curve(frame, selection, parts.curve);
  // What the newest picture has: after a change, the other for another moment.
  if (!picture_->heat.image.rgba.empty()) heat_.draw(frame, picture_, selection, parts.rows);
  else rows_.draw(frame, selection, parts.rows);
  list.PushClipRect(to_imgui(parts.labels.low), to_imgui(parts.labels.high), true);
  draw_time_labels(frame, list, parts.labels);
  draw_text(list, {frame.gutter + 6 * scene.scale, parts.labels.low.y + 4 * scene.scale}, scene.palette->faint_text,
            "time", gutter);
  list.PopClipRect();
  draw_text(list, {frame.gutter + 6 * scene.scale, parts.slider.middle().y - text_size("0").y / 2},
            scene.palette->faint_text, "selected period", gutter - 8 * scene.scale);
  draw_now(frame, parts);
  slider_.draw(frame, selection, parts.slider);
  plot_ = {{sight_.left(), parts.curve.low.y}, {sight_.right(), parts.labels.high.y}};
  move(plot_);
}

// Wheel: zoom; right or middle button, arrows: pan; Home: all.
void EvolutionView::move(Rect plot) {
  const ImGuiIO& io = ImGui::GetIO();
  const Point mouse = to_point(io.MousePos);
  const bool hovered = plot.holds(mouse) && ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                                                                   ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Right) && !ImGui::IsMouseDown(ImGuiMouseButton_Middle)) panning_ = false;
  if (hovered && (ImGui::IsMouseClicked(ImGuiMouseButton_Right) || ImGui::IsMouseClicked(ImGuiMouseButton_Middle)))
    panning_ = true;
  if (panning_) sight_.pan(io.MouseDelta.x);
  if (!hovered) return;
  sight_.zoom(mouse.x, io.MouseWheel);
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) sight_.show_all();
  if (io.KeyAlt) return;  // back and forward through what was selected
  if (ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_LeftArrow))) sight_.pan(arrow_speed * io.DeltaTime);
  if (ImGui::IsKeyDown(ImGui::GetKeyIndex(ImGuiKey_RightArrow))) sight_.pan(-arrow_speed * io.DeltaTime);
}

void EvolutionView::draw_now(const EvolutionFrame& frame, const Parts& parts) const {
  if (frame.scene.connection.phase != session::Phase::running) return;
  const float x = sight_.x(frame.scene.now_s);
  if (x < sight_.left() || x > sight_.right() + 1) return;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Rgba colour = frame.scene.paused ? frame.palette().warning : frame.palette().good;
  list.AddRectFilled({x - 1, parts.curve.low.y}, {x, parts.labels.low.y}, to_imgui(colour.with_alpha(0.8f)));
  const char* word = frame.scene.paused ? "paused" : "now";
  draw_text(list, {x - text_size(word).x - 3 * frame.scene.scale, parts.curve.low.y}, colour, word);
}

// Places a button left of `right`.
bool EvolutionView::button(const char* word, const char* mark, bool pressed, float& right, float top,
                           const layout::Palette& palette) {
  const ImGuiStyle& style = ImGui::GetStyle();
  const float width = text_size(word).x + 2 * style.FramePadding.x;
  right -= width;
  ImGui::SetCursorScreenPos({right, top});
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(pressed ? palette.text : palette.faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(pressed ? palette.grid : palette.panel));
  const bool clicked = ImGui::SmallButton(word);
  ImGui::PopStyleColor(2);
  marks_.push_back({mark, middle_of_item()});
  right -= style.ItemSpacing.x / 2;
  return clicked;
}

void EvolutionView::draw_buttons(const Scene& scene, Rect area) {
  const layout::Palette& palette = *scene.palette;
  const float scale = scene.scale, top = area.low.y + 2 * scale;
  float right = area.high.x - 6 * scale;
  if (area.width() < 140 * scale || area.height() < text_size("0").y) return;
  if (button("linear", "linear", !compressed_, right, top, palette)) chosen_compressed_ = false;
  if (ImGui::IsItemHovered()) tooltip("all of the time at one scale");
  if (button("compressed", "compressed", compressed_, right, top, palette)) chosen_compressed_ = true;
  if (ImGui::IsItemHovered()) tooltip(legend_words(3));
  const bool live = scene.connection.phase == session::Phase::running;
  if (sight_.part()) {
    if (button("all", "all", false, right, top, palette)) sight_.show_all();
    if (ImGui::IsItemHovered())
      tooltip("show the whole run (Home)\nwheel: zoom, drag with the right button or arrow keys: pan");
  }
  if (live && !sight_.following()) {
    if (button("follow", "follow", true, right, top, palette)) sight_.follow();
    if (ImGui::IsItemHovered())
      tooltip("you are looking at the past; nothing is lost meanwhile. Click: follow the newest again");
  }
  if (!rows_fit_) {
    if (button(rows_chosen_ ? "map" : "rows", rows_chosen_ ? "map" : "rows", false, right, top, palette))
      rows_chosen_ = !rows_chosen_;
    if (ImGui::IsItemHovered())
      tooltip(rows_chosen_ ? "all regions at once, as a map" : "a row with circles for each region; they scroll");
  }
  const EvolutionFrame frame{scene, *picture_, sight_, area.low.x, marks_};
  if (!picture_->order.empty())
    draw_evolution_legend(frame, {{area.low.x + 6 * scale, area.low.y}, {right - 8 * scale, area.high.y}});
}

}  // namespace

std::unique_ptr<View> make_evolution_view() { return std::make_unique<EvolutionView>(); }

}  // namespace pclscope::gui
