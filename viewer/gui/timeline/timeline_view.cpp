// The rank timeline: what each rank did when (views.md, "Time").
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/faded_ranks.hpp"
#include "viewer/gui/base/texture.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/gui/timeline/timeline_words.hpp"
#include "viewer/layout/function_colours.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/layout/timeline_picture.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;
using layout::TimelineSight;

constexpr double zoom_per_notch = 1.25;
constexpr double least_ns = 100, least_ranks = 2;  // in sight
constexpr std::size_t most_in_legend = 8;
constexpr std::size_t most_rank_marks = 32;

class TimelineView final : public View {
 public:
  const char* title() const override { return "what each rank did: timeline"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (area_.width() < 1) return {};
    return {{AxisKind::time, area_,
             [sight = sight_, left = area_.low.x](float x) { return sight.time(x - left) * 1e-9; },
             [sight = sight_, left = area_.low.x](double second) { return left + sight.x(second * 1e9); }}};
  }
  bool unsettled() const override { return reading_ || (painter_ && painter_->busy()); }

 private:
  void draw_header(const Scene& scene, const Selection& selection, const Rect& at);
  void show_period(const Selection& selection);
  void follow_call(const Selection& selection);
  float draw_switch(const Scene& scene, const char* label, const char* meaning, bool& on);
  void follow(const Scene& scene, const Rect& area);
  void react(const Rect& area);
  void zoom(double time_by, double ranks_by, Point at);
  void move(double ns, double ranks);
  void draw_picture(ImDrawList& list, const Rect& area);
  void draw_period(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& area) const;
  void draw_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& gutter,
                  const Rect& area);
  void draw_times(ImDrawList& list, const Scene& scene, const Rect& area) const;
  void hover(ImDrawList& list, const Scene& scene, Selection& selection, const Rect& area);
  std::int32_t rank_at(Point in) const;

  using Painter = layout::Latest<layout::TimelineImageRequest, layout::TimelineImage>;
  TimelineSource own_;  // where nobody has one for all views
  bool reading_ = false;
  std::shared_ptr<const session::TimelineRun> run_, sighted_;  // the one whose first sight was chosen
  std::shared_ptr<const layout::TimelineImage> shown_;
  std::unique_ptr<Painter> painter_;
  Texture texture_;
  layout::TimelineImageRequest asked_;
  TimelineSight sight_;
  Rect area_{};                                           // of the bars, as drawn last
  double time0_ = 0, time1_ = 0, rank0_ = 0, rank1_ = 0;  // none: all
  std::optional<SelectedCall> followed_;
  bool messages_ = true, path_ = true;
  bool held_ = false;    // newer calls of the running job are not shown
  bool moving_ = false;  // a button is down and was pressed here
  float moved_ = 0;      // pixels since then
  std::vector<Mark> marks_;
  std::shared_ptr<const Snapshot> sites_of_;
  views::Sites sites_;
};

void TimelineView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  area_ = {};
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const Rect whole{low, low + Point{std::max(size.x, 1.f), std::max(size.y, 1.f)}};
  TimelineSource& source = scene.calls != nullptr ? *scene.calls : own_;
  auto newest = source.run(scene);
  // Of a running job the axis follows the newest moment, but stands while a part is looked at.
  held_ = run_ && run_->live && newest && newest->live && time1_ > time0_;
  if (!held_) run_ = std::move(newest);
  reading_ = source.reading();
  if (sites_of_ != scene.snapshot && scene.snapshot) {
    sites_of_ = scene.snapshot;
    sites_ = views::Sites(sites_of_->sites);
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = line_height(), s = scene.scale;
  const std::string words = source.words(scene) + (held_ ? "; stands while zoomed, Home goes on" : "");
  if (!run_ || run_->calls.empty()) {
    draw_text(list, whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              scene.palette->faint_text, words, whole.width() - 8 * s);
    return;
  }
  const float gutter = text_size(std::to_string(run_->ranks)).x + 14 * s;
  const Rect area{{whole.low.x + gutter, whole.low.y + (words.empty() ? 1.f : 2.f) * line + 4 * s},
                  {whole.high.x - 4 * s, whole.high.y - line - 2 * s}};
  if (area.width() < 8 || area.height() < 4) return;
  if (sighted_ != run_) {
    const bool goes_on = sighted_ && ((sighted_->live && run_->live) || (sighted_->more_to_come && time1_ > time0_));
    sighted_ = run_;
    if (!goes_on) {
      time0_ = time1_ = 0;
      if (!run_->live) show_period(selection);
    }
  }
  follow_call(selection);
  draw_header(scene, selection, {whole.low, {whole.high.x, whole.low.y + line}});
  if (!words.empty())
    draw_text(list, {area.low.x, whole.low.y + line + 2 * s}, scene.palette->faint_text, words, area.width());
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("timeline", {area.width(), area.height()},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  react(area);
  follow(scene, area);
  area_ = area;
  draw_picture(list, area);
  fade_other_ranks(list, scene, selection, area, [this](float y) { return sight_.rank(y); });
  draw_period(list, scene, selection, area);
  draw_ranks(list, scene, selection, {{whole.low.x, area.low.y}, {area.low.x, area.high.y}}, area);
  draw_times(list, scene, area);
  hover(list, scene, selection, area);
}

float TimelineView::draw_switch(const Scene& scene, const char* label, const char* meaning, bool& on) {
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(on ? scene.palette->text : scene.palette->faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(on ? scene.palette->grid : scene.palette->panel));
  if (ImGui::SmallButton(label)) on = !on;
  ImGui::PopStyleColor(2);
  marks_.push_back({std::string("timeline ") + label, middle_of_item()});
  if (ImGui::IsItemHovered()) tooltip(meaning);
  ImGui::SameLine(0, 4 * scene.scale);
  return ImGui::GetCursorScreenPos().x;
}

// With a quarter of it on both sides; nearly the whole run is the whole run.
void TimelineView::show_period(const Selection& selection) {
  if (!selection.period) return;
  const double begin = selection.period->begin_s * 1e9, end = selection.period->end_s * 1e9;
  const auto first = static_cast<double>(run_->begin_ns), last = static_cast<double>(run_->end_ns);
  if (!(end > begin) || !(end > first) || !(begin < last)) return;
  const double low = std::max(first, begin - (end - begin) / 4), high = std::min(last, end + (end - begin) / 4);
  const bool all = high - low > 0.9 * (last - first);
  time0_ = all ? 0 : low;
  time1_ = all ? 0 : std::min(std::max(high, low + least_ns), last);
}

// A call that another view selected comes into sight.
void TimelineView::follow_call(const Selection& selection) {
  const SelectedCall* call = selected_call(selection);
  if (call == nullptr || followed_ == *call) return;
  followed_ = *call;
  if (time1_ > time0_ && (static_cast<double>(call->end_ns) < time0_ || static_cast<double>(call->begin_ns) > time1_))
    show_period(selection);
  if (rank1_ > rank0_ && (call->rank + 1 <= rank0_ || call->rank >= rank1_)) rank0_ = rank1_ = 0;
}

// Switches, the colours in sight, and what lines there are.
void TimelineView::draw_header(const Scene& scene, const Selection& selection, const Rect& at) {
  const float s = scene.scale;
  const layout::Palette& p = *scene.palette;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  ImGui::SetCursorScreenPos({at.low.x + 6 * s, at.low.y});
  float x = at.low.x + 6 * s;
  if (at.width() > 300 * s && !run_->live) {
    x = draw_switch(scene, "messages", "Lines from sends to receives, while there are few enough to tell them apart.",
                    messages_);
    x = draw_switch(scene, "critical path",
                    "One bold line: the chain of computation and communication that ends with the run. Shortening it "
                    "shortens the run.",
                    path_);
  }
  if (selection.period && at.width() > 300 * s) {
    bool pressed = false;
    x = draw_switch(scene, "to period", "The selected period, with a quarter of it on both sides. Home: all.", pressed);
    if (pressed) show_period(selection);
  }
  if (!shown_) return;
  const float box = ImGui::GetFontSize() * 0.7f;
  const auto entry = [&](layout::Rgba colour, const std::string& text) {
    const float wide = box + 4 * s + text_size(text).x + 10 * s;
    if (x + wide > at.high.x) return false;
    const Point from{x + 4 * s, at.low.y + ImGui::GetFontSize() * 0.2f};
    list.AddRectFilled(to_imgui(from), to_imgui(from + Point{box, box}), to_imgui(colour));
    draw_text(list, {from.x + box + 4 * s, at.low.y}, p.faint_text, text);
    x += wide + 4 * s;
    return true;
  };
  bool room = entry(layout::outside_colour(p), "outside MPI");
  for (std::size_t i = 0; room && i < std::min(shown_->functions.size(), most_in_legend); ++i)
    room = entry(layout::function_colour(shown_->functions[i].first),
                 views::function_name(shown_->functions[i].first).substr(4));
  if (run_->live) return;
  std::string text = "hatched: waits";
  if (messages_ && shown_->lines > 0) text += "; " + text::format_count(shown_->lines) + " messages";
  if (messages_ && shown_->lines_left_out > 0) text += "; messages when zoomed in";
  if (path_ && run_->path.empty()) text += "; no critical path of so many messages";
  if (x + 60 * s < at.high.x) draw_text(list, {x + 4 * s, at.low.y}, p.faint_text, text, at.high.x - x - 4 * s);
}

// The sight of now, and a picture of it if there is none yet.
void TimelineView::follow(const Scene& scene, const Rect& area) {
  if (!painter_)
    painter_ = std::make_unique<Painter>([](const layout::TimelineImageRequest& request,
                                            const auto& stopping) { return layout::draw_timeline(request, stopping); },
                                         scene.wake);
  const bool part = time1_ > time0_, some = rank1_ > rank0_;
  sight_.time0 = part ? time0_ : static_cast<double>(run_->begin_ns);
  sight_.time1 = part ? time1_ : static_cast<double>(run_->end_ns);
  sight_.rank0 = some ? rank0_ : 0;
  sight_.rank1 = some ? rank1_ : std::max(run_->ranks, 1);
  sight_.width = std::min(static_cast<int>(area.width()), 8192);
  sight_.height = std::min(static_cast<int>(area.height()), 8192);
  const layout::TimelineImageRequest wanted{run_, sight_, messages_, path_, scene.palette};
  if (!(wanted == asked_)) painter_->ask(asked_ = wanted);
  const auto answer = painter_->answer();
  if (answer && answer != shown_ && !answer->image.rgba.empty()) {
    shown_ = answer;
    texture_.upload(shown_->image);
  }
}

void TimelineView::zoom(double time_by, double ranks_by, Point at) {
  const auto around = [](double by, double at, double low, double high, double least, double first, double last,
                         double& from, double& to) {
    if (by == 1) return;
    const double length = std::clamp((high - low) / by, std::min(least, last - first), last - first);
    from = std::clamp(at - (at - low) / (high - low) * length, first, std::max(first, last - length));
    to = from + length;
    if (length >= last - first) from = to = 0;
  };
  around(time_by, sight_.time(at.x), sight_.time0, sight_.time1, least_ns, static_cast<double>(run_->begin_ns),
         static_cast<double>(run_->end_ns), time0_, time1_);
  around(ranks_by, sight_.rank(at.y), sight_.rank0, sight_.rank1, least_ranks, 0, std::max(run_->ranks, 1), rank0_,
         rank1_);
}

void TimelineView::move(double ns, double ranks) {
  const auto by = [](double by, double first, double last, double& from, double& to) {
    if (!(to > from) || by == 0) return;
    const double length = to - from;
    from = std::clamp(from + by, first, std::max(first, last - length));
    to = from + length;
  };
  by(ns, static_cast<double>(run_->begin_ns), static_cast<double>(run_->end_ns), time0_, time1_);
  by(ranks, 0, run_->ranks, rank0_, rank1_);
}

void TimelineView::react(const Rect& area) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered();
  const Point mouse = to_point(io.MousePos) - area.low;
  for (const ImGuiMouseButton button : {ImGuiMouseButton_Left, ImGuiMouseButton_Right, ImGuiMouseButton_Middle}) {
    if (!ImGui::IsMouseClicked(button)) continue;
    moving_ = hovered;
    moved_ = 0;
  }
  if (!io.MouseDown[0] && !io.MouseDown[1] && !io.MouseDown[2] && !ImGui::IsMouseReleased(0)) moving_ = false;
  if (moving_ && (io.MouseDown[0] || io.MouseDown[1] || io.MouseDown[2])) {
    moved_ += std::fabs(io.MouseDelta.x) + std::fabs(io.MouseDelta.y);
    move(-io.MouseDelta.x * sight_.ns_per_pixel(), -io.MouseDelta.y / sight_.rank_height());
  }
  if (!hovered) return;
  if (io.MouseWheel != 0) {
    const double by = std::pow(zoom_per_notch, io.MouseWheel);
    zoom(io.KeyShift ? 1 : by, io.KeyShift || io.KeyCtrl ? by : 1, mouse);
  }
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Home))) time0_ = time1_ = rank0_ = rank1_ = 0;
  if (io.KeyAlt) return;  // back and forward
  const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)); };
  move((down(ImGuiKey_RightArrow) - down(ImGuiKey_LeftArrow)) * 0.5 * io.DeltaTime * (sight_.time1 - sight_.time0),
       (down(ImGuiKey_DownArrow) - down(ImGuiKey_UpArrow)) * 0.5 * io.DeltaTime * (sight_.rank1 - sight_.rank0));
}

// The last whole picture, where it belongs in the sight of now.
void TimelineView::draw_picture(ImDrawList& list, const Rect& area) {
  if (!shown_) return;
  const TimelineSight& of = shown_->of.sight;
  const Point low = area.low + Point{sight_.x(of.time0), sight_.y(of.rank0)},
              high = area.low + Point{sight_.x(of.time1), sight_.y(of.rank1)};
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  if (texture_.id()) list.AddImage(texture_.id(), to_imgui(low), to_imgui(high));
  list.PopClipRect();
  marks_.push_back({"timeline coloured " + std::to_string(shown_->coloured), area.middle()});
  marks_.push_back({"timeline lines " + std::to_string(shown_->lines), area.middle()});
}

// The period that is selected anywhere.
void TimelineView::draw_period(ImDrawList& list, const Scene& scene, const Selection& selection,
                               const Rect& area) const {
  if (!selection.period) return;
  const layout::Rgba colour = scene.palette->selection;
  const auto x = [&](double s) {
    return area.low.x + std::clamp(sight_.x(s * 1e9), -1.f, static_cast<float>(sight_.width) + 1);
  };
  const float from = x(selection.period->begin_s), until = x(selection.period->end_s);
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  list.AddRectFilled({from, area.low.y}, {std::max(until, from + 1), area.high.y}, to_imgui(colour.with_alpha(0.06f)));
  for (const float at : {from, until})
    list.AddLine({at, area.low.y}, {at, area.high.y}, to_imgui(colour.with_alpha(0.6f)));
  if (const SelectedCall* call = selected_call(selection)) {
    const auto begin = static_cast<double>(call->begin_ns), end = static_cast<double>(call->end_ns);
    const Point low = area.low + Point{std::max(-2.f, sight_.x(begin) - 1), sight_.y(call->rank) - 1};
    const Point high = area.low + Point{std::min(static_cast<float>(sight_.width) + 2, sight_.x(end) + 2),
                                        sight_.y(call->rank + 1.0) + 1};
    list.AddRect(to_imgui(low), to_imgui(high), to_imgui(colour));
  }
  list.PopClipRect();
}

// Ranks at the left edge; bars for the selected region, those that findings name, and who is selected.
void TimelineView::draw_ranks(ImDrawList& list, const Scene& scene, const Selection& selection, const Rect& gutter,
                              const Rect& area) {
  const layout::Palette& p = *scene.palette;
  const float s = scene.scale;
  const auto bars = [&](const std::vector<std::int32_t>& ranks, layout::Rgba colour, float left, float right) {
    for (std::size_t i = 0, j = 0; i < ranks.size(); i = j) {
      for (j = i + 1; j < ranks.size() && ranks[j] == ranks[j - 1] + 1; ++j) {}
      const float top = std::max(area.low.y, area.low.y + sight_.y(ranks[i])),
                  bottom = std::min(area.high.y, area.low.y + sight_.y(ranks[j - 1] + 1));
      if (bottom > top)
        list.AddRectFilled({area.low.x - left, top}, {area.low.x - right, std::max(bottom, top + 1)}, to_imgui(colour));
    }
  };
  if (scene.snapshot) {
    for (const Region& region : scene.snapshot->regions)
      if (selection.region && region.id == *selection.region) bars(region.ranks, p.region(region.id), 4 * s, 1);
    for (const Finding& finding : scene.snapshot->attribution.findings)
      if (finding.confidence > 0.5) bars(finding.ranks, p.bad, 7 * s, 4 * s);
  }
  bars(selection.ranks, p.selection, 3 * s, 1);
  if (selection.rank) {
    bars({*selection.rank}, p.selection, 5 * s, 1);
    const float y = area.low.y + sight_.y(*selection.rank), h = static_cast<float>(sight_.rank_height());
    if (h < 40 * s && y > area.low.y && y + h < area.high.y)
      for (const float at : {y - 0.5f, y + h + 0.5f})
        list.AddLine({area.low.x, at}, {area.high.x, at}, to_imgui(p.selection.with_alpha(0.5f)));
  }
  const int most = std::max(1, static_cast<int>(area.height() / (1.6f * line_height())));
  std::size_t marked = 0;
  for (const double tick : ticks(std::floor(sight_.rank0), sight_.rank1 - 1e-9, most)) {
    if (tick != std::floor(tick) || tick < sight_.rank0) continue;
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    const float y = area.low.y + sight_.y(tick + 0.5);
    if (y > area.high.y) break;
    draw_text(list, {std::max(gutter.low.x, area.low.x - 8 * s - text_size(text).x), y - ImGui::GetFontSize() / 2},
              p.faint_text, text);
    if (++marked <= most_rank_marks)
      marks_.push_back({"timeline rank " + std::to_string(static_cast<std::int32_t>(tick)), {area.low.x + 2, y}});
  }
}

void TimelineView::draw_times(ImDrawList& list, const Scene& scene, const Rect& area) const {
  const int most = std::max(1, static_cast<int>(area.width() / (110 * scene.scale)));
  const double low = sight_.time0 * 1e-9, high = sight_.time1 * 1e-9;
  const std::vector<double> moments = ticks(low, high, most);
  const double apart = moments.size() > 1 ? moments[1] - moments[0] : high - low;
  for (const double tick : moments) {
    const std::string text = text::format_tick(tick, apart);
    const float x = area.low.x + sight_.x(tick * 1e9);
    if (x + text_size(text).x / 2 > area.high.x || x < area.low.x) continue;
    list.AddLine({x, area.high.y}, {x, area.high.y + 3}, to_imgui(scene.palette->grid));
    draw_text(list, {std::max(area.low.x, x - text_size(text).x / 2), area.high.y + 1}, scene.palette->faint_text,
              text);
  }
}

// Of a pixel row that stands for several ranks the one that it shows there.
std::int32_t TimelineView::rank_at(Point in) const {
  if (sight_.rank_height() >= 1) return static_cast<std::int32_t>(std::floor(sight_.rank(in.y)));
  TimelineSight one = sight_;
  one.time0 = sight_.time(std::floor(in.x));
  one.time1 = sight_.time(std::floor(in.x) + 1);
  one.rank0 = sight_.rank(std::floor(in.y));
  one.rank1 = sight_.rank(std::floor(in.y) + 1);
  one.width = one.height = 1;
  const auto pixels = layout::timeline_pixels(*run_, one);
  return pixels.empty() ? -1 : pixels.front().rank;
}

void TimelineView::hover(ImDrawList& list, const Scene& scene, Selection& selection, const Rect& area) {
  if (!ImGui::IsItemHovered() || moved_ >= 3) return;
  const Point in = to_point(ImGui::GetIO().MousePos) - area.low;
  const std::int32_t rank = rank_at(in);
  const auto reach = static_cast<std::int64_t>(2 * sight_.ns_per_pixel());
  const TimelinePlace place = place_at(*run_, rank, static_cast<std::int64_t>(sight_.time(in.x)), reach);
  if (place.rank < 0) {
    if (rank >= 0 && rank < run_->ranks)
      tooltip("rank " + std::to_string(rank) +
              ": nothing is stored of this moment (--keep, --budget), or it had ended");
    return;
  }
  const session::TimelineCall& call = run_->calls[place.call];
  const double begin = static_cast<double>(place.outside ? call.begin - static_cast<std::int64_t>(call.outside)
                                                         : call.begin),
               end = static_cast<double>(place.outside ? call.begin : call.end);
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  list.AddRect(to_imgui(area.low + Point{sight_.x(begin) - 1, sight_.y(rank) - 1}),
               to_imgui(area.low + Point{std::max(sight_.x(end), sight_.x(begin) + 1) + 1, sight_.y(rank + 1.0) + 1}),
               to_imgui(scene.palette->selection));
  list.PopClipRect();
  tooltip(call_words(*run_, place, sites_));
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && moving_ && scene.snapshot)
    select_call(*run_, place, *scene.snapshot, selection);
}

}  // namespace

std::unique_ptr<View> make_timeline_view() { return std::make_unique<TimelineView>(); }

}  // namespace pclscope::gui
