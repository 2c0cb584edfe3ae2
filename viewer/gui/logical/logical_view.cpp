// The logical timeline: who was late first, in the order that messages give the events (views.md, "Time").
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/logical_picture.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::LogicalSight;
using layout::Point;
using layout::Rect;

constexpr double zoom_per_notch = 1.2;
constexpr double least_steps = 4, least_ranks = 2;  // in sight
constexpr float number_room = 14;                   // points between phases that have numbers
constexpr std::size_t most_phase_lines = 400;
constexpr std::size_t most_rank_marks = 32;

class LogicalView final : public View {
 public:
  const char* title() const override { return "who first: logical timeline"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (area_.width() < 1) return {};
    return {{AxisKind::steps, area_, [sight = sight_, left = area_.low.x](float x) { return sight.step(x - left); },
             [sight = sight_, left = area_.low.x](double step) { return left + sight.x(step); }}};
  }
  bool unsettled() const override { return reading_ || (painter_ && painter_->busy()); }

 private:
  void draw_header(const Scene& scene, const Rect& at);
  void follow(const Scene& scene, const Selection& selection, const Rect& area);
  void react(const Scene& scene, Selection& selection, const Rect& area);
  void zoom(double steps_by, double ranks_by, Point at, Selection& selection);
  void move(double steps, double ranks, Selection& selection);
  void show(double step0, double step1, Selection& selection);
  void draw_picture(ImDrawList& list, const Scene& scene, const Rect& area);
  void draw_first(ImDrawList& list, const Scene& scene, const Rect& area);
  void draw_phases(ImDrawList& list, const Scene& scene, const Rect& area) const;
  void fade_others(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& area) const;
  void draw_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& gutter,
                  const Rect& area);
  void draw_steps(ImDrawList& list, const Scene& scene, const Rect& area, float below) const;
  void hover(ImDrawList& list, const Scene& scene, Selection& selection, const Rect& area);
  EventPlace at(Point mouse, const Rect& area) const;
  Rect place_of(EventPlace place, const Rect& area) const;

  using Painter = layout::Latest<layout::LogicalImageRequest, layout::LogicalImage>;
  std::shared_ptr<const session::LogicalRun> run_;
  std::shared_ptr<const layout::LogicalImage> shown_;
  std::unique_ptr<Painter> painter_;  // before what its work may outlive
  Texture texture_;
  layout::LogicalImageRequest asked_;
  LogicalSight sight_;
  Rect area_{};                   // of the boxes, as drawn last
  double rank0_ = 0, rank1_ = 0;  // none: all
  bool messages_ = true;
  bool reading_ = false;
  bool moving_ = false;  // the right button is down and was pressed here
  std::vector<Mark> marks_;
  std::shared_ptr<const Snapshot> sites_of_;
  views::Sites sites_;
};

void LogicalView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  area_ = {};
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const Rect whole{low, low + Point{std::max(size.x, 1.f), std::max(size.y, 1.f)}};
  if (scene.logical == nullptr) return;
  run_ = scene.logical->run(scene);
  reading_ = scene.logical->reading();
  if (sites_of_ != scene.snapshot && scene.snapshot) {
    sites_of_ = scene.snapshot;
    sites_ = views::Sites(sites_of_->sites);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = line_height(), s = scene.scale;
  const std::string words = scene.logical->words(scene);
  if (!run_ || run_->events == 0) {
    draw_text(list, whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              scene.palette->faint_text, words, whole.width() - 8 * s);
    return;
  }
  const float gutter = text_size(std::to_string(run_->ranks)).x + 12 * s;
  const Rect area{{whole.low.x + gutter, whole.low.y + (words.empty() ? 2 : 3) * line + 4 * s},
                  {whole.high.x - 4 * s, whole.high.y - line - 2 * s}};
  if (area.width() < 8 || area.height() < 4) return;
  draw_header(scene, {whole.low, {whole.high.x, whole.low.y + line}});
  if (!words.empty())
    draw_text(list, {area.low.x, whole.low.y + line + 2 * s}, scene.palette->faint_text, words, area.width());
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("logical timeline", {area.width(), area.height()});
  follow(scene, selection, area);
  react(scene, selection, area);
  area_ = area;
  draw_picture(list, scene, area);
  fade_others(list, scene, selection, area);
  draw_phases(list, scene, area);
  draw_ranks(list, scene, selection, {{whole.low.x, area.low.y}, {area.low.x, area.high.y}}, area);
  draw_steps(list, scene, area, area.high.y);
  hover(list, scene, selection, area);
}

void LogicalView::draw_header(const Scene& scene, const Rect& at) {
  const float s = scene.scale;
  ImGui::SetCursorScreenPos({at.low.x + 6 * s, at.low.y});
  if (at.width() > 300 * s) {
    draw_metric_buttons(scene, marks_);
    ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(messages_ ? scene.palette->text : scene.palette->faint_text));
    ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(messages_ ? scene.palette->grid : scene.palette->panel));
    if (ImGui::SmallButton("messages")) messages_ = !messages_;
    ImGui::PopStyleColor(2);
    marks_.push_back({"messages", middle_of_item()});
    if (ImGui::IsItemHovered()) tooltip("Lines from sends to receives, while there are few enough to tell them apart.");
    ImGui::SameLine(0, 8 * s);
  }
  // The scale, and what lines there are.
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = ImGui::GetCursorScreenPos().x;
  if (!shown_ || x + 90 * s > at.high.x) return;
  const float wide = 60 * s, high = ImGui::GetFontSize() * 0.7f, top = at.low.y + ImGui::GetFontSize() * 0.2f;
  draw_text(list, {x, at.low.y}, scene.palette->faint_text, "0");
  x += text_size("0 ").x;
  for (int i = 0; i < 30; ++i)
    list.AddRectFilled({x + wide * static_cast<float>(i) / 30, top},
                       {x + wide * static_cast<float>(i + 1) / 30, top + high},
                       to_imgui(layout::metric_colour(*scene.palette, i, 29)));
  x += wide + 4 * s;
  std::string text =
      value_words(shown_->of.metric, static_cast<double>(shown_->pixels.most) * session::unit_of(shown_->of.metric)) +
      " in sight";
  if (shown_->lines > 0) text += "; " + text::format_count(shown_->lines) + " messages";
  if (shown_->lines_left_out > 0) text += shown_->lines > 0 ? ", more when zoomed in" : "; messages when zoomed in";
  draw_text(list, {x, at.low.y}, scene.palette->faint_text, text, std::max(1.f, at.high.x - x));
}

// The sight of now, and a picture of it if there is none yet.
void LogicalView::follow(const Scene& scene, const Selection& selection, const Rect& area) {
  if (!painter_)
    painter_ = std::make_unique<Painter>([](const layout::LogicalImageRequest& request,
                                            const auto& stopping) { return layout::draw_logical(request, stopping); },
                                         scene.wake);
  const double steps = std::max<double>(run_->steps, 1), ranks = std::max<double>(run_->ranks, 1);
  sight_.step0 = 0, sight_.step1 = steps;
  if (selection.steps && selection.steps->end > selection.steps->first)
    sight_.step0 = selection.steps->first, sight_.step1 = selection.steps->end;
  if (!(rank1_ > rank0_)) sight_.rank0 = 0, sight_.rank1 = ranks;
  else sight_.rank0 = rank0_, sight_.rank1 = rank1_;
  sight_.width = static_cast<int>(area.width());
  sight_.height = static_cast<int>(area.height());
  const layout::LogicalImageRequest wanted{run_, sight_, scene.logical->metric, messages_, scene.palette};
  if (!(wanted == asked_)) painter_->ask(asked_ = wanted);
  const auto answer = painter_->answer();
  if (answer && answer != shown_ && !answer->image.rgba.empty()) {
    shown_ = answer;
    texture_.upload(shown_->image);
  }
}

void LogicalView::show(double step0, double step1, Selection& selection) {
  const double all = std::max<double>(run_->steps, 1);
  const double length = std::clamp(step1 - step0, std::min(least_steps, all), all);
  const double first = std::clamp(step0, 0.0, all - length);
  if (length >= all) selection.steps.reset();
  else selection.steps = SelectedSteps{first, first + length};
}

void LogicalView::zoom(double steps_by, double ranks_by, Point at, Selection& selection) {
  const double step = sight_.step(at.x), rank = sight_.rank(at.y);
  if (steps_by != 1) show(step - (step - sight_.step0) / steps_by, step + (sight_.step1 - step) / steps_by, selection);
  if (ranks_by != 1) {
    const double all = std::max<double>(run_->ranks, 1);
    const double length = std::clamp((sight_.rank1 - sight_.rank0) / ranks_by, std::min(least_ranks, all), all);
    const double share = (rank - sight_.rank0) / (sight_.rank1 - sight_.rank0);
    rank0_ = std::clamp(rank - share * length, 0.0, all - length);
    rank1_ = rank0_ + length;
    if (length >= all) rank0_ = rank1_ = 0;
  }
}

void LogicalView::move(double steps, double ranks, Selection& selection) {
  if (steps != 0) show(sight_.step0 + steps, sight_.step1 + steps, selection);
  if (ranks == 0 || !(rank1_ > rank0_)) return;
  const double length = rank1_ - rank0_;
  rank0_ = std::clamp(rank0_ + ranks, 0.0, std::max(0.0, run_->ranks - length));
  rank1_ = rank0_ + length;
}

void LogicalView::react(const Scene& scene, Selection& selection, const Rect& area) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered();
  const Point mouse = to_point(io.MousePos) - area.low;
  const bool pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Right) || ImGui::IsMouseClicked(ImGuiMouseButton_Middle);
  if (pressed) moving_ = hovered;
  if (moving_ && (io.MouseDown[ImGuiMouseButton_Right] || io.MouseDown[ImGuiMouseButton_Middle]))
    move(-io.MouseDelta.x / sight_.step_width(), -io.MouseDelta.y / sight_.rank_height(), selection);
  if (!hovered) return;
  if (io.MouseWheel != 0) {
    const double by = std::pow(zoom_per_notch, io.MouseWheel);
    zoom(io.KeyShift ? 1 : by, io.KeyShift || io.KeyCtrl ? by : 1, mouse, selection);
  }
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) {
    selection.steps.reset();
    rank0_ = rank1_ = 0;
  }
  const double step = 0.5 * io.DeltaTime * (sight_.step1 - sight_.step0),
               rank = 0.5 * io.DeltaTime * (sight_.rank1 - sight_.rank0);
  const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)); };
  if (io.KeyAlt) return;  // back and forward
  move((down(ImGuiKey_RightArrow) - down(ImGuiKey_LeftArrow)) * step,
       (down(ImGuiKey_DownArrow) - down(ImGuiKey_UpArrow)) * rank, selection);
  (void)scene;
}

// The last whole picture, where it belongs in the sight of now.
void LogicalView::draw_picture(ImDrawList& list, const Scene& scene, const Rect& area) {
  if (!shown_) return;
  const LogicalSight& of = shown_->of.sight;
  const Point low = area.low + Point{sight_.x(of.step0), sight_.y(of.rank0)},
              high = area.low + Point{sight_.x(of.step1), sight_.y(of.rank1)};
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  if (texture_.id()) list.AddImage(texture_.id(), to_imgui(low), to_imgui(high));
  list.PopClipRect();
  marks_.push_back({"logical boxes " + std::to_string(shown_->pixels.boxes), area.middle()});
  if (shown_->of.run == run_ && shown_->pixels.phase != logical::none) {
    const Rect box = place_of({shown_->pixels.phase, shown_->pixels.box}, area);
    if (area.holds(box.middle())) marks_.push_back({"latest event", box.middle()});
  }
  draw_first(list, scene, area);
  (void)scene;
}

// An arrow at the event where lateness begins: who is late first.
void LogicalView::draw_first(ImDrawList& list, const Scene& scene, const Rect& area) {
  if (shown_->of.run != run_ || shown_->pixels.first_phase == logical::none) return;
  const Rect box = place_of({shown_->pixels.first_phase, shown_->pixels.first_box}, area);
  if (!area.holds(box.middle())) return;
  marks_.push_back({"late first", box.middle()});
  const float s = scene.scale, size = 7 * s, x = std::max(box.low.x, area.low.x + size), y = box.middle().y;
  const ImVec2 tip{x, y}, upper{x - size, y - size * 0.6f}, lower{x - size, y + size * 0.6f};
  list.AddTriangleFilled(tip, upper, lower, to_imgui(scene.palette->selection));
  list.AddTriangle(tip, upper, lower, to_imgui(scene.palette->background));
  if (box.width() >= 5 && box.height() >= 5)
    list.AddRect(to_imgui(box.low), to_imgui(box.high), to_imgui(scene.palette->selection), 0, 0, 1.5f * s);
}

Rect LogicalView::place_of(EventPlace place, const Rect& area) const {
  const session::LogicalPhase& phase = *run_->phases[place.phase];
  const double step = phase.boxes[place.box].step, rank = phase.rank_of(place.box);
  const Point low = area.low + Point{sight_.x(step), sight_.y(rank)};
  return {low, low + Point{std::max(1.f, static_cast<float>(sight_.step_width())),
                           std::max(1.f, static_cast<float>(sight_.rank_height()))}};
}

// A line where each begins, over its ranks; numbers where there is room.
void LogicalView::draw_phases(ImDrawList& list, const Scene& scene, const Rect& area) const {
  if (!shown_ || shown_->of.run != run_) return;
  const layout::Palette& p = *scene.palette;
  float free_from = area.low.x;
  std::size_t lines = 0;
  const bool room = area.width() > 3 * scene.scale * static_cast<float>(shown_->phases.size()) ||
                    shown_->phases.size() < most_phase_lines;
  for (const std::uint32_t number : shown_->phases) {
    const session::LogicalPhase& phase = *run_->phases[number];
    const float x = area.low.x + sight_.x(phase.first_step);
    if (x > area.high.x) break;  // by first step
    const float top = std::max(area.low.y, area.low.y + sight_.y(phase.parts.front().rank)),
                bottom = std::min(area.high.y, area.low.y + sight_.y(phase.parts.back().rank + 1));
    if (room && ++lines <= most_phase_lines && x >= area.low.x)
      list.AddRectFilled({x - 1, top - 2 * scene.scale}, {x, bottom}, to_imgui(p.selection.with_alpha(0.75f)));
    const std::string text = std::to_string(number);
    const float at = std::max(x, area.low.x);
    if (at < free_from || at + text_size(text).x > area.high.x) continue;
    draw_text(list, {at + 1, area.low.y - line_height()}, p.faint_text, text);
    free_from = at + text_size(text).x + number_room * scene.scale;
  }
}

// Pixel rows without any of several selected ranks.
void LogicalView::fade_others(ImDrawList& list, const Scene& scene, const Selection& selection,
                              const Rect& area) const {
  if (selection.ranks.size() < 2) return;
  const ImU32 veil = to_imgui(scene.palette->background.with_alpha(0.7f));
  const int rows = static_cast<int>(area.height());
  int from = -1;  // where a faded part begins
  for (int y = 0; y <= rows; ++y) {
    const double low = std::floor(sight_.rank(static_cast<float>(y))),
                 high = std::max(low + 1, std::ceil(sight_.rank(static_cast<float>(y) + 1) - 1e-9));
    const auto first = std::lower_bound(selection.ranks.begin(), selection.ranks.end(), low,
                                        [](std::int32_t rank, double of) { return rank < of; });
    const bool lit = y == rows || (first != selection.ranks.end() && *first < high);
    if (!lit && from < 0) from = y;
    if (!lit || from < 0) continue;
    list.AddRectFilled({area.low.x, area.low.y + static_cast<float>(from)},
                       {area.high.x, area.low.y + static_cast<float>(y)}, veil);
    from = -1;
  }
}

// Ranks at the left edge; who is selected has a bar.
void LogicalView::draw_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& gutter,
                             const Rect& area) {
  const layout::Palette& p = *scene.palette;
  const auto bar = [&](std::int32_t first, std::int32_t last, layout::Rgba colour, float wide) {
    const float top = std::max(area.low.y, area.low.y + sight_.y(first)),
                bottom = std::min(area.high.y, area.low.y + sight_.y(last + 1));
    if (bottom > top)
      list.AddRectFilled({area.low.x - wide, top}, {area.low.x - 1, std::max(bottom, top + 1)}, to_imgui(colour));
  };
  const auto runs = [&](const std::vector<std::int32_t>& ranks, layout::Rgba colour, float wide) {
    for (std::size_t i = 0, j = 0; i < ranks.size(); i = j) {
      for (j = i + 1; j < ranks.size() && ranks[j] == ranks[j - 1] + 1; ++j) {}
      bar(ranks[i], ranks[j - 1], colour, wide);
    }
  };
  if (selection.region && scene.snapshot) {
    for (const Region& region : scene.snapshot->regions)
      if (region.id == *selection.region) runs(region.ranks, p.region(region.id), 4 * scene.scale);
  }
  runs(selection.ranks, p.selection, 3 * scene.scale);
  if (selection.rank) {
    bar(*selection.rank, *selection.rank, p.selection, 5 * scene.scale);
    const float y = area.low.y + sight_.y(*selection.rank), h = static_cast<float>(sight_.rank_height());
    if (h < 40 * scene.scale && y > area.low.y && y + h < area.high.y) {
      list.AddLine({area.low.x, y - 0.5f}, {area.high.x, y - 0.5f}, to_imgui(p.selection.with_alpha(0.5f)));
      list.AddLine({area.low.x, y + h + 0.5f}, {area.high.x, y + h + 0.5f}, to_imgui(p.selection.with_alpha(0.5f)));
    }
  }
  const int most = std::max(1, static_cast<int>(area.height() / (1.6f * line_height())));
  std::size_t marked = 0;
  for (const double tick : ticks(std::floor(sight_.rank0), sight_.rank1 - 1e-9, most)) {
    if (tick != std::floor(tick) || tick < sight_.rank0) continue;
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    const float y = area.low.y + sight_.y(tick + 0.5);
    if (y > area.high.y) break;
    draw_text(list,
              {std::max(gutter.low.x, area.low.x - 6 * scene.scale - text_size(text).x), y - ImGui::GetFontSize() / 2},
              p.faint_text, text);
    if (++marked <= most_rank_marks)
      marks_.push_back({"logical rank " + std::to_string(static_cast<std::int32_t>(tick)), {area.low.x - 3, y}});
  }
}

void LogicalView::draw_steps(ImDrawList& list, const Scene& scene, const Rect& area, float below) const {
  const int most = std::max(1, static_cast<int>(area.width() / (90 * scene.scale)));
  for (const double tick : ticks(std::floor(sight_.step0), sight_.step1 - 1e-9, most)) {
    if (tick != std::floor(tick) || tick < sight_.step0) continue;
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    const float x = area.low.x + sight_.x(tick + 0.5);
    if (x + text_size(text).x / 2 > area.high.x) break;
    draw_text(list, {x - text_size(text).x / 2, below + 1}, scene.palette->faint_text, text);
  }
  const std::string text = "step";
  draw_text(list, {area.low.x - text_size(text).x - 2, below + 1}, scene.palette->faint_text, text);
}

// Of a pixel that stands for several the one with the largest value, as drawn.
EventPlace LogicalView::at(Point mouse, const Rect& area) const {
  EventPlace best;
  if (!shown_ || shown_->of.run != run_) return best;
  const Point in{std::floor(mouse.x - area.low.x), std::floor(mouse.y - area.low.y)};
  const auto range = [](double low, double high, double most) {
    return std::pair(
        static_cast<std::int64_t>(std::clamp(std::floor(low), 0.0, most)),
        static_cast<std::int64_t>(std::clamp(std::max(std::floor(low) + 1, std::ceil(high - 1e-9)), 0.0, most)));
  };
  const auto [step0, step1] =
      range(sight_.step(in.x), sight_.step_width() >= 1 ? 0 : sight_.step(in.x + 1), run_->steps);
  const auto [rank0, rank1] =
      range(sight_.rank(in.y), sight_.rank_height() >= 1 ? 0 : sight_.rank(in.y + 1), run_->ranks);
  float most = -1;
  for (const std::uint32_t number : shown_->phases) {
    const session::LogicalPhase& phase = *run_->phases[number];
    if (phase.first_step >= step1 || phase.first_step + phase.steps <= step0) continue;
    auto part = std::partition_point(phase.parts.begin(), phase.parts.end(),
                                     [r = rank0](const logical::Part& q) { return q.rank < r; });
    for (; part != phase.parts.end() && part->rank < rank1; ++part) {
      const auto begin = phase.boxes.begin() + part->first, end = phase.boxes.begin() + part->end;
      auto box = std::partition_point(begin, end, [s = step0](const auto& b) { return b.step < s; });
      for (; box != end && box->step < step1; ++box)
        if (const float value = phase.value(*box, shown_->of.metric); value > most)
          most = value, best = {number, static_cast<std::uint32_t>(box - phase.boxes.begin())};
    }
  }
  return best;
}

void LogicalView::hover(ImDrawList& list, const Scene& scene, Selection& selection, const Rect& area) {
  if (!ImGui::IsItemHovered()) return;
  const EventPlace place = at(to_point(ImGui::GetIO().MousePos), area);
  if (!place.known()) return;
  const Rect box = place_of(place, area);
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  list.AddRect(to_imgui(box.low - Point{1, 1}), to_imgui(box.high + Point{1, 1}), to_imgui(scene.palette->selection));
  // Its messages, however many there are else.
  const session::LogicalPhase& phase = *run_->phases[place.phase];
  std::size_t drawn = 0;
  for (const std::uint32_t other : phase.partners_of(phase.boxes[place.box])) {
    if (++drawn > 200) break;
    list.AddLine(to_imgui(box.middle()), to_imgui(place_of({place.phase, other}, area).middle()),
                 to_imgui(scene.palette->selection), 2);
  }
  list.PopClipRect();
  tooltip(event_words(*run_, place, sites_));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && scene.snapshot)
    select_event(*run_, place, *scene.snapshot, selection);
}

}  // namespace

std::unique_ptr<View> make_logical_view() { return std::make_unique<LogicalView>(); }

}  // namespace pclscope::gui
