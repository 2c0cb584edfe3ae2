// Who can know of whom (PCLVis, Figure 7): the events of few ranks with their vector clocks; what happened before the
// one under the mouse, after it, and concurrently.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/clocks/clock_words.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/clock_picture.hpp"
#include "viewer/layout/latest.hpp"

namespace pclscope::gui {
namespace {

using layout::ClockEvent;
using layout::ClockPicture;
using layout::ClockRequest;
using layout::Point;
using layout::Rect;

constexpr std::size_t most_rows = 12, most_marks = 48;
constexpr std::uint32_t no_event = UINT32_MAX;
constexpr float arrow_points = 7;

layout::Rgba colour_of(const layout::Palette& p, ClockRelation relation) {
  switch (relation) {
    case ClockRelation::before: return p.predecessor;
    case ClockRelation::after: return p.successor;
    case ClockRelation::concurrent: return p.good;
    case ClockRelation::itself: break;
  }
  return p.selection;
}

class ClockView final : public View {
 public:
  const char* title() const override { return "who can know: vector clocks"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return reading_ || (maker_ && maker_->busy()); }

 private:
  void follow(const Scene& scene, const Selection& selection, std::size_t rows, std::size_t columns);
  void measure(const Rect& area, float scale);
  void react(const Rect& area);
  void draw_header(const Scene& scene, const Rect& at) const;
  void draw_period(const Scene& scene, const Rect& area) const;
  void draw_rows(const Scene& scene, const Rect& area, const std::string& words) const;
  void draw_messages(const Scene& scene, const Rect& area) const;
  void draw_events(const Scene& scene, const Rect& area);
  void draw_steps(const Scene& scene, const Rect& area) const;
  void hover(const Scene& scene, Selection& selection);
  std::uint32_t under_mouse() const;
  std::uint32_t selected_event(const Selection& selection) const;
  Point at(const ClockEvent& event) const {
    return {area_.low.x + (static_cast<float>(event.column) + 0.5f) * column_ - scroll_,
            area_.low.y + static_cast<float>(event.row) * row_ + middle_};
  }
  bool in_sight(Point p) const { return p.x > area_.low.x - column_ && p.x < area_.high.x + column_; }

  using Maker = layout::Latest<ClockRequest, ClockPicture>;
  std::unique_ptr<Maker> maker_;
  std::shared_ptr<const ClockPicture> picture_;
  ClockRequest asked_;
  Rect area_{};
  float column_ = 100, row_ = 60, middle_ = 12, radius_ = 5, scroll_ = 0;  // pixels; middle: of an event below the top
  std::size_t per_line_ = 8;                                               // components
  std::uint32_t lit_ = no_event;                                           // whose past and future are shown
  bool to_period_ = true, moving_ = false, reading_ = false;
  std::vector<Mark> marks_;
  std::shared_ptr<const Snapshot> sites_of_;
  views::Sites sites_;
};

void ClockView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const Rect whole{low, low + Point{std::max(size.x, 1.f), std::max(size.y, 1.f)}};
  if (scene.logical == nullptr) return;
  const auto run = scene.logical->run(scene);
  reading_ = scene.logical->reading();
  if (sites_of_ != scene.snapshot && scene.snapshot) {
    sites_of_ = scene.snapshot;
    sites_ = views::Sites(sites_of_->sites);
  }
  const float line = line_height(), s = scene.scale;
  const std::string words = scene.logical->words(scene);
  if (!run || run->events == 0) {
    draw_text(*ImGui::GetWindowDrawList(),
              whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              scene.palette->faint_text, words, whole.width() - 8 * s);
    return;
  }
  const float gutter = text_size("rank " + std::to_string(run->ranks)).x + 12 * s;
  const Rect area{{whole.low.x + gutter, whole.low.y + 2 * line + 4 * s},
                  {whole.high.x - 4 * s, whole.high.y - line - 2 * s}};
  if (area.width() < 8 || area.height() < 4) return;
  const auto rows =
      static_cast<std::size_t>(std::clamp(area.height() / (3.4f * line), 2.f, static_cast<float>(most_rows)));
  follow(scene, selection, rows, static_cast<std::size_t>(std::clamp(area.width() / (60 * s), 4.f, 64.f)));
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("clocks", {area.width(), area.height()});
  if (!picture_) return;
  measure(area, s);
  react(area);
  lit_ = under_mouse();
  if (lit_ == no_event) lit_ = selected_event(selection);
  draw_header(scene, {{area.low.x, whole.low.y}, {area.high.x, area.low.y}});
  draw_rows(scene, area, words);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  draw_period(scene, area);
  draw_messages(scene, area);
  draw_events(scene, area);
  list.PopClipRect();
  draw_steps(scene, area);
  hover(scene, selection);
}

// What the selection asks for: its ranks, else those of its region; of one rank also its neighbours.
void ClockView::follow(const Scene& scene, const Selection& selection, std::size_t rows, std::size_t columns) {
  if (!maker_)
    maker_ = std::make_unique<Maker>(
        [](const ClockRequest& request, const auto& stopping) { return layout::clock_picture(request, stopping); },
        scene.wake);
  ClockRequest wanted;
  wanted.run = scene.logical->run(scene);
  wanted.most_ranks = rows;
  wanted.columns = columns;
  wanted.focus = selection.rank.value_or(-1);
  if (selection.ranks.size() > 1) wanted.ranks = selection.ranks;
  else if (!selection.ranks.empty()) wanted.focus = selection.ranks[0];
  else if (!selection.rank && selection.region && scene.snapshot)
    for (const Region& region : scene.snapshot->regions)
      if (region.id == *selection.region) wanted.ranks = region.ranks;
  if (selection.period) {
    const auto ns = [](double s) { return static_cast<std::int64_t>(std::clamp(s, -4e9, 4e9) * 1e9); };
    wanted.from_ns = ns(selection.period->begin_s), wanted.to_ns = ns(selection.period->end_s);
  }
  // An event that was clicked here is in sight already.
  const bool same_rows = asked_.run == wanted.run && asked_.ranks == wanted.ranks;
  if (same_rows && picture_ && lit_ != no_event && selected_event(selection) == lit_) return;
  if (!(wanted == asked_)) maker_->ask(asked_ = wanted);
  const auto answer = maker_->answer();
  if (answer && answer != picture_) {
    picture_ = answer;
    to_period_ = true;
    lit_ = no_event;
  }
}

// Columns as wide as the widest clock. A clock has one line, or more where only then all columns fit, or it would be
// wide.
void ClockView::measure(const Rect& area, float scale) {
  area_ = area;
  radius_ = 5 * scale;
  middle_ = radius_ + 8 * scale;
  row_ = area.height() / static_cast<float>(std::max<std::size_t>(picture_->ranks.size(), 1));
  const float room = (row_ - middle_ - radius_) / line_height() - (picture_->knows_others ? 1.f : 0.f);
  const std::size_t components = std::max<std::size_t>(picture_->ranks.size(), 1);
  const auto most_lines = static_cast<std::size_t>(std::clamp(room, 1.f, static_cast<float>(components)));
  const auto divide = [&](std::size_t lines) {
    per_line_ = (components + lines - 1) / lines;
    float widest = 0;
    for (const ClockEvent& event : picture_->events)
      for (const std::string& text : clock_lines(event, per_line_, picture_->knows_others))
        widest = std::max(widest, text_size(text).x);
    column_ = std::max(widest + 14 * scale, 30 * scale);
    return column_ * static_cast<float>(picture_->steps.size()) <= area.width();
  };
  std::size_t lines = 1;
  while (!divide(lines) && lines < most_lines) ++lines;
  if (lines == most_lines) divide(std::min<std::size_t>(most_lines, 2));  // scrolled in any case: easy to read
  const auto columns = static_cast<float>(picture_->steps.size());
  if (columns * column_ < area.width() && columns > 0) column_ = std::min(area.width() / columns, 2 * column_);
  if (to_period_) {
    to_period_ = false;
    for (const ClockEvent& event : picture_->events) {
      if (!event.in_period) continue;
      scroll_ = (static_cast<float>(event.column) - 1) * column_;  // with one before it
      break;
    }
  }
  scroll_ = std::clamp(scroll_, 0.f, std::max(0.f, columns * column_ - area.width()));
}

void ClockView::react(const Rect& area) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered();
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Right)) moving_ = hovered;
  if (moving_ && io.MouseDown[ImGuiMouseButton_Right]) scroll_ -= io.MouseDelta.x;
  if (hovered && !io.KeyAlt) {
    const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)); };
    scroll_ -= 2 * io.MouseWheel * column_;
    scroll_ += (down(ImGuiKey_RightArrow) - down(ImGuiKey_LeftArrow)) * io.DeltaTime * area.width() / 2;
    if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) to_period_ = true;
  }
  scroll_ =
      std::clamp(scroll_, 0.f, std::max(0.f, static_cast<float>(picture_->steps.size()) * column_ - area.width()));
}

std::uint32_t ClockView::under_mouse() const {
  if (!ImGui::IsItemHovered()) return no_event;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  for (std::uint32_t i = 0; i < picture_->events.size(); ++i) {
    const Point p = at(picture_->events[i]);
    if (std::abs(mouse.x - p.x) <= column_ / 2 && mouse.y >= p.y - middle_ && mouse.y < p.y - middle_ + row_) return i;
  }
  return no_event;
}

// The last event of the rank in focus that ends in the selected period.
std::uint32_t ClockView::selected_event(const Selection& selection) const {
  if (!picture_ || !selection.rank || !selection.period) return no_event;
  std::uint32_t found = no_event;
  for (std::uint32_t i = 0; i < picture_->events.size(); ++i) {
    const ClockEvent& event = picture_->events[i];
    if (picture_->ranks[event.row] != *selection.rank) continue;
    const session::LogicalPhase& phase = *picture_->run->phases[event.phase];
    const double end = static_cast<double>(phase.end_ns(phase.boxes[event.box])) * 1e-9;
    if (end >= selection.period->begin_s && end <= selection.period->end_s + 1e-9) found = i;
  }
  return found;
}

void ClockView::draw_header(const Scene& scene, const Rect& at) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  draw_text(list, at.low, p.text, clock_header(*picture_), at.width());
  float x = at.low.x;
  const float y = at.low.y + line_height(), size = ImGui::GetFontSize() * 0.6f;
  if (lit_ == no_event)
    return draw_text(list, {x, y}, p.faint_text,
                     "Point at an event: what happened before it, after it, and concurrently.", at.width());
  const ClockCounts counts = count_relations(*picture_, lit_);
  const auto item = [&](ClockRelation relation, std::size_t count) {
    const std::string text = std::string(name_of(relation)) + " " + std::to_string(count);
    if (x + size + text_size(text).x > at.high.x) return;
    list.AddRectFilled({x, y + size * 0.4f}, {x + size, y + size * 1.4f}, to_imgui(colour_of(p, relation)));
    draw_text(list, {x + size + 4 * scene.scale, y}, p.faint_text, text);
    x += size + text_size(text).x + 18 * scene.scale;
  };
  item(ClockRelation::before, counts.before);
  item(ClockRelation::after, counts.after);
  item(ClockRelation::concurrent, counts.concurrent);
}

void ClockView::draw_period(const Scene& scene, const Rect& area) const {
  if (asked_.from_ns == INT64_MIN) return;
  float low = area.high.x, high = area.low.x;
  for (const ClockEvent& event : picture_->events)
    if (event.in_period) low = std::min(low, at(event).x), high = std::max(high, at(event).x);
  if (high < low) return;
  ImGui::GetWindowDrawList()->AddRectFilled({low - column_ / 2, area.low.y}, {high + column_ / 2, area.high.y},
                                            to_imgui(scene.palette->grid.with_alpha(0.35f)));
}

void ClockView::draw_rows(const Scene& scene, const Rect& area, const std::string& words) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  for (std::size_t row = 0; row < picture_->ranks.size(); ++row) {
    const float y = area.low.y + static_cast<float>(row) * row_ + middle_;
    const std::string text = "rank " + std::to_string(picture_->ranks[row]);
    list.AddLine({area.low.x, y}, {area.high.x, y}, to_imgui(p.grid), scene.scale);
    draw_text(list, {area.low.x - text_size(text).x - 8 * scene.scale, y - ImGui::GetFontSize() / 2}, p.text, text);
  }
  if (!words.empty())  // of a running job: which part of it this is
    draw_text(list, {area.low.x, area.high.y - line_height()}, p.faint_text, words, area.width());
}

// Arrows from sends to receives; short ones to and from ranks that are not shown.
void ClockView::draw_messages(const Scene& scene, const Rect&) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float s = scene.scale;
  for (const layout::ClockMessage& message : picture_->messages) {
    const Point a = at(picture_->events[message.from]), b = at(picture_->events[message.to]);
    if (!in_sight(a) && !in_sight(b) && (a.x < area_.low.x) == (b.x < area_.low.x)) continue;
    const float away = std::max(distance(a, b), 1.f);
    const Point along = (b - a) * (1 / away), across{-along.y, along.x}, tip = b - along * (radius_ + s);
    const bool lit = lit_ != no_event && relation_of(*picture_, message.from, lit_) != ClockRelation::concurrent &&
                     relation_of(*picture_, message.to, lit_) != ClockRelation::concurrent;
    const ImU32 colour = to_imgui(lit ? p.text : p.edge);
    list.AddLine(to_imgui(a + along * radius_), to_imgui(tip), colour, (lit ? 2.f : 1.3f) * s);
    const Point back = tip - along * (arrow_points * s);
    list.AddTriangleFilled(to_imgui(tip), to_imgui(back + across * (0.45f * arrow_points * s)),
                           to_imgui(back - across * (0.45f * arrow_points * s)), colour);
  }
  for (const layout::ClockLooseEnd& end : picture_->loose_ends) {
    const ClockEvent& event = picture_->events[end.event];
    const Point from = at(event);
    if (!in_sight(from)) continue;
    const bool below = end.rank > picture_->ranks[event.row];
    const Point by{(end.sent ? 1.f : -1.f) * 9 * s, (below ? 1.f : -1.f) * 9 * s};
    list.AddLine(to_imgui(from), to_imgui(from + by), to_imgui(p.edge), 1.3f * s);
  }
}

// Sends are discs, receives rings, collectives squares.
void ClockView::draw_events(const Scene& scene, const Rect& area) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  std::size_t drawn = 0;
  for (std::uint32_t i = 0; i < picture_->events.size(); ++i) {
    const ClockEvent& event = picture_->events[i];
    const Point middle = at(event);
    if (!in_sight(middle)) continue;
    const layout::Rgba colour = lit_ == no_event ? p.text : colour_of(p, relation_of(*picture_, i, lit_));
    const float r = radius_;
    const session::LogicalPhase& phase = *picture_->run->phases[event.phase];
    switch (phase.boxes[event.box].kind) {
      case logical::Kind::send: list.AddCircleFilled(to_imgui(middle), r, to_imgui(colour)); break;
      case logical::Kind::receive:
        list.AddCircleFilled(to_imgui(middle), r, to_imgui(p.background));
        list.AddCircle(to_imgui(middle), r, to_imgui(colour), 0, 2 * scene.scale);
        break;
      case logical::Kind::collective:
        list.AddRectFilled({middle.x - r, middle.y - r}, {middle.x + r, middle.y + r}, to_imgui(colour));
        break;
    }
    if (i == lit_) list.AddCircle(to_imgui(middle), r + 3 * scene.scale, to_imgui(p.selection), 0, 2 * scene.scale);
    float y = middle.y + r + 2 * scene.scale;
    for (const std::string& text : clock_lines(event, per_line_, picture_->knows_others)) {
      if (y + ImGui::GetFontSize() > area.low.y + static_cast<float>(event.row + 1) * row_) break;
      const Point size = text_size(text), low{middle.x - size.x / 2, y};
      list.AddRectFilled({low.x - 2, y}, {low.x + size.x + 2, y + size.y}, to_imgui(p.background.with_alpha(0.7f)));
      draw_text(list, low, lit_ == no_event ? p.faint_text : colour, text);
      y += line_height();
    }
    ++drawn;
    if (marks_.size() < most_marks && middle.x > area.low.x && middle.x < area.high.x)
      marks_.push_back({"clock of rank " + std::to_string(picture_->ranks[event.row]) + " step " +
                            std::to_string(picture_->steps[event.column]),
                        middle});
  }
  marks_.push_back({"clock events " + std::to_string(drawn), area.middle()});
  if (lit_ == no_event) return;
  const ClockCounts counts = count_relations(*picture_, lit_);
  marks_.push_back({"before " + std::to_string(counts.before) + " after " + std::to_string(counts.after) +
                        " concurrent " + std::to_string(counts.concurrent),
                    at(picture_->events[lit_])});
}

void ClockView::draw_steps(const Scene& scene, const Rect& area) const {
  float free_from = area.low.x;
  for (std::size_t i = 0; i < picture_->steps.size(); ++i) {
    const std::string text = std::to_string(picture_->steps[i]);
    const float x = area.low.x + (static_cast<float>(i) + 0.5f) * column_ - scroll_ - text_size(text).x / 2;
    if (x < free_from || x + text_size(text).x > area.high.x) continue;
    draw_text(*ImGui::GetWindowDrawList(), {x, area.high.y + 1}, scene.palette->faint_text, text);
    free_from = x + text_size(text).x + 8 * scene.scale;
  }
  const std::string text = "step";
  draw_text(*ImGui::GetWindowDrawList(), {area.low.x - text_size(text).x - 8 * scene.scale, area.high.y + 1},
            scene.palette->faint_text, text);
}

// A click selects the event; the rows stay.
void ClockView::hover(const Scene& scene, Selection& selection) {
  const std::uint32_t event = under_mouse();
  if (event == no_event) return;
  const ClockEvent& of = picture_->events[event];
  const EventPlace place{of.phase, of.box};
  tooltip(event_words(*picture_->run, place, sites_) + "\n" + clock_words(*picture_, event));
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || !scene.snapshot) return;
  select_event(*picture_->run, place, *scene.snapshot, selection);
  if (picture_->ranks.size() > 1) selection.ranks = picture_->ranks;
}

}  // namespace

std::unique_ptr<View> make_clocks_view() { return std::make_unique<ClockView>(); }

}  // namespace pclscope::gui
