// The logical timeline: who was late first, in the order that messages give the events (views.md, "Time").
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/faded_ranks.hpp"
#include "viewer/gui/logical/compared_strip.hpp"
#include "viewer/gui/logical/logical_axes.hpp"
#include "viewer/gui/logical/logical_pane.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/compared_runs.hpp"
#include "viewer/layout/latest.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::LogicalSight;
using layout::Point;
using layout::Rect;

constexpr double zoom_per_notch = 1.2;
constexpr double least_steps = 4, least_ranks = 2;  // in sight
constexpr float strip_points = 34;                  // between two runs

layout::PeriodNs to_period_ns(const SelectedPeriod& period) {
  const auto ns = [](double s) { return static_cast<std::int64_t>(std::clamp(s, -4e9, 4e9) * 1e9); };
  return {ns(period.begin_s), ns(period.end_s)};
}

// Call sites of a snapshot.
class SitesOf {
 public:
  void follow(const std::shared_ptr<const Snapshot>& snapshot) {
    if (of_ == snapshot || !snapshot) return;
    of_ = snapshot;
    sites_ = views::Sites(of_->sites);
  }
  const views::Sites& sites() const { return sites_; }

 private:
  std::shared_ptr<const Snapshot> of_;
  views::Sites sites_;
};

class LogicalView final : public View {
 public:
  const char* title() const override { return "who first: logical timeline"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (area_.width() < 1 || comparing()) return {};  // steps of two runs are nobody else's
    return {{AxisKind::steps, area_, [sight = sight_, left = area_.low.x](float x) { return sight.step(x - left); },
             [sight = sight_, left = area_.low.x](double step) { return left + sight.x(step); }}};
  }
  bool unsettled() const override {
    return reading_ || first_.busy() || second_.busy() || (comparer_ && comparer_->busy());
  }

 private:
  void draw_header(const Scene& scene, Selection& selection, const Rect& at);
  void draw_scale(const Scene& scene, const Rect& at, float x) const;
  void draw_pin(const Scene& scene, Selection& selection);
  void compare(const Scene& scene, const Selection& selection);
  std::string compared_problem(const Scene& scene, const Selection& selection) const;
  void follow(const Scene& scene, Selection& selection, const Rect& area);
  void react(Selection& selection);
  void zoom(double steps_by, double ranks_by, Point at, Selection& selection);
  void move(double steps, double ranks, Selection& selection);
  void show(double step0, double step1, Selection& selection);
  void hover(ImDrawList& list, const Scene& scene, Selection& selection);
  void hover_both(ImDrawList& list, const Scene& scene, Selection& selection, const LogicalPane& pane);

  bool comparing() const { return compared_ != nullptr; }
  double all_steps() const { return std::max<double>(comparing() ? compared_->steps : run_->steps, 1); }
  double all_ranks() const {
    return std::max<double>(
        comparing() ? std::max(compared_->first.run->ranks, compared_->second.run->ranks) : run_->ranks, 1);
  }
  // Which steps are in sight: of one run those of all views, of two those that are common to both.
  std::optional<SelectedSteps>& steps_in_sight(Selection& selection) {
    return comparing() ? common_steps_ : selection.steps;
  }
  const LogicalPane& pane_at(float y) const { return comparing() && y > first_.area().high.y ? second_ : first_; }

  using Comparer = layout::Latest<layout::ComparedRequest, layout::ComparedRuns>;
  std::shared_ptr<const session::LogicalRun> run_;
  LogicalPane first_, second_;
  std::unique_ptr<Comparer> comparer_;
  layout::ComparedRequest comparison_;
  std::shared_ptr<const layout::ComparedRuns> compared_;  // null: one run
  std::optional<SelectedSteps> common_steps_;
  LogicalSight sight_;            // of each pane
  Rect area_{};                   // of the boxes, as drawn last; of both runs
  double rank0_ = 0, rank1_ = 0;  // none: all
  bool messages_ = true;
  bool reading_ = false;
  bool moving_ = false;  // the right button is down and was pressed here
  std::vector<Mark> marks_;
  SitesOf sites_, second_sites_;
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
  sites_.follow(scene.snapshot);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float line = line_height(), s = scene.scale;
  std::string words = scene.logical->words(scene);
  if (!run_ || run_->events == 0) {
    draw_text(list, whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              scene.palette->faint_text, words, whole.width() - 8 * s);
    return;
  }
  compare(scene, selection);
  if (words.empty()) words = compared_problem(scene, selection);
  const bool second_line = !words.empty() || comparing();
  const float gutter = text_size(std::to_string(static_cast<int>(all_ranks()))).x + 12 * s;
  const Rect area{{whole.low.x + gutter, whole.low.y + (second_line ? 3 : 2) * line + 4 * s},
                  {whole.high.x - 4 * s, whole.high.y - line - 2 * s}};
  if (area.width() < 8 || area.height() < 4) return;
  draw_header(scene, selection, {whole.low, {whole.high.x, whole.low.y + line}});
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("logical timeline", {area.width(), area.height()});
  area_ = area;
  follow(scene, selection, area);
  react(selection);
  if (comparing() && compared_->second.run->events > 0)
    words = compared_words(*compared_, compared_names(scene, selection), sight_) + (words.empty() ? "" : "; ") + words;
  if (!words.empty())
    draw_text(list, {whole.low.x + 6 * s, whole.low.y + line + 2 * s}, scene.palette->faint_text, words,
              whole.width() - 12 * s);
  for (LogicalPane* pane : {&first_, &second_}) {
    if (pane == &second_ && !comparing()) break;
    const Rect& at = pane->area();
    const layout::ComparedSide* side = !comparing()      ? nullptr
                                       : pane == &first_ ? &compared_->first
                                                         : &compared_->second;
    pane->draw(list, scene, pane == &first_ ? "" : "below ", marks_);
    fade_other_ranks(list, scene, selection, at, [this](float y) { return sight_.rank(y); });
    pane->draw_phases(list, scene, side != nullptr ? &side->numbers : nullptr);
    draw_rank_axis(list, scene, selection, sight_, {{whole.low.x, at.low.y}, {at.low.x, at.high.y}}, at, marks_);
  }
  if (comparing())
    draw_compared_strip(scene, *compared_, sight_,
                        {{area.low.x, first_.area().high.y + 2 * s}, {area.high.x, second_.area().low.y - line}},
                        marks_);
  draw_step_axis(list, scene, sight_, area);
  hover(list, scene, selection);
}

// A second run, or a pinned period beside the selected one: both on the same steps.
void LogicalView::compare(const Scene& scene, const Selection& selection) {
  layout::ComparedRequest wanted;
  if (scene.compared != nullptr && scene.compared->logical != nullptr) {
    wanted = {run_, scene.compared->logical->run(*scene.compared), {}, {}};
    second_sites_.follow(scene.compared->snapshot);
    const session::Phase phase = scene.compared->connection.phase;
    reading_ = reading_ || scene.compared->logical->reading() ||
               (!scene.compared->snapshot && phase != session::Phase::failed);
  } else if (selection.pinned && selection.period && selection.pinned != selection.period) {
    wanted = {run_, run_, to_period_ns(*selection.pinned), to_period_ns(*selection.period)};
    second_sites_.follow(scene.snapshot);
  }
  if (!wanted.second || wanted.second->events == 0) {
    compared_ = nullptr;
    return;
  }
  if (!comparer_)
    comparer_ = std::make_unique<Comparer>([](const layout::ComparedRequest& request,
                                              const auto& stopping) { return layout::compare_runs(request, stopping); },
                                           scene.wake);
  if (!(wanted == comparison_)) comparer_->ask(comparison_ = wanted);
  const auto answer = comparer_->answer();
  if (answer && answer->first.run && answer->second.run && (compared_ != nullptr || answer->of == wanted))
    compared_ = answer;
}

// Why there is no second run, or what is missing for a second period.
std::string LogicalView::compared_problem(const Scene& scene, const Selection& selection) const {
  if (comparing() && compared_->second.run->events > 0) return {};
  if (scene.compared != nullptr) {
    const Connection& connection = scene.compared->connection;
    if (!connection.problem.empty()) return "to compare: " + connection.problem;
    return scene.compared->logical == nullptr ? "" : "to compare: " + scene.compared->logical->words(*scene.compared);
  }
  if (!selection.pinned) return {};
  if (comparing()) return "the selected period has no events";
  return !selection.period || selection.period == selection.pinned
             ? "pinned: " + compared_names(scene, selection).first + "; select the period to put below it"
             : "";
}

void LogicalView::draw_header(const Scene& scene, Selection& selection, const Rect& at) {
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
    draw_pin(scene, selection);
  }
  draw_scale(scene, at, ImGui::GetCursorScreenPos().x);
}

// Keeps the selected period, to put another one below it.
void LogicalView::draw_pin(const Scene& scene, Selection& selection) {
  if (scene.compared != nullptr || (!selection.period && !selection.pinned)) return;
  const bool on = selection.pinned.has_value();
  ImGui::PushStyleColor(ImGuiCol_Text, to_imgui(on ? scene.palette->text : scene.palette->faint_text));
  ImGui::PushStyleColor(ImGuiCol_Button, to_imgui(on ? scene.palette->grid : scene.palette->panel));
  if (ImGui::SmallButton("pin period")) toggle_pin(selection);
  ImGui::PopStyleColor(2);
  marks_.push_back({"pin period", middle_of_item()});
  if (ImGui::IsItemHovered())
    tooltip(
        "Keeps the selected period above, the one that is selected next comes below it, on the same steps (key c).");
  ImGui::SameLine(0, 8 * scene.scale);
}

// The scale, and what lines there are.
void LogicalView::draw_scale(const Scene& scene, const Rect& at, float x) const {
  const float s = scene.scale;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::LogicalImage* shown = first_.shown();
  if (shown == nullptr || x + 90 * s > at.high.x) return;
  const float wide = 60 * s, high = ImGui::GetFontSize() * 0.7f, top = at.low.y + ImGui::GetFontSize() * 0.2f;
  draw_text(list, {x, at.low.y}, scene.palette->faint_text, "0");
  x += text_size("0 ").x;
  for (int i = 0; i < 30; ++i)
    list.AddRectFilled({x + wide * static_cast<float>(i) / 30, top},
                       {x + wide * static_cast<float>(i + 1) / 30, top + high},
                       to_imgui(layout::metric_colour(*scene.palette, i, 29)));
  x += wide + 4 * s;
  std::string text =
      value_words(shown->of.metric, static_cast<double>(shown->scale) * session::unit_of(shown->of.metric)) +
      " in sight";
  if (shown->lines > 0) text += "; " + text::format_count(shown->lines) + " messages";
  if (shown->lines_left_out > 0) text += shown->lines > 0 ? ", more when zoomed in" : "; messages when zoomed in";
  draw_text(list, {x, at.low.y}, scene.palette->faint_text, text, std::max(1.f, at.high.x - x));
}

// The sight of now; two runs share the height.
void LogicalView::follow(const Scene& scene, Selection& selection, const Rect& area) {
  const auto& in_sight = steps_in_sight(selection);
  sight_.step0 = 0, sight_.step1 = all_steps();
  if (in_sight && in_sight->end > in_sight->first) sight_.step0 = in_sight->first, sight_.step1 = in_sight->end;
  if (!(rank1_ > rank0_)) sight_.rank0 = 0, sight_.rank1 = all_ranks();
  else sight_.rank0 = rank0_, sight_.rank1 = rank1_;
  const float strip = strip_points * scene.scale + line_height();
  const float high = comparing() ? std::max(1.f, std::floor((area.height() - strip) / 2)) : area.height();
  sight_.width = static_cast<int>(area.width());
  sight_.height = static_cast<int>(high);
  layout::LogicalImageRequest wanted{run_, sight_, scene.logical->metric, messages_, scene.palette};
  const Rect upper{area.low, {area.high.x, area.low.y + high}},
      lower{{area.low.x, area.low.y + std::floor(area.height() - high)}, area.high};
  if (comparing()) {
    wanted.run = compared_->second.run, wanted.beside = compared_->first.run;
    second_.follow(scene, lower, wanted);
    std::swap(wanted.run, wanted.beside);
  }
  first_.follow(scene, upper, wanted);
}

void LogicalView::show(double step0, double step1, Selection& selection) {
  const double all = all_steps();
  auto& in_sight = steps_in_sight(selection);
  const double length = std::clamp(step1 - step0, std::min(least_steps, all), all);
  const double first = std::clamp(step0, 0.0, all - length);
  if (length >= all) in_sight.reset();
  else in_sight = SelectedSteps{first, first + length};
}

void LogicalView::zoom(double steps_by, double ranks_by, Point at, Selection& selection) {
  const double step = sight_.step(at.x), rank = sight_.rank(at.y);
  if (steps_by != 1) show(step - (step - sight_.step0) / steps_by, step + (sight_.step1 - step) / steps_by, selection);
  if (ranks_by != 1) {
    const double all = all_ranks();
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
  rank0_ = std::clamp(rank0_ + ranks, 0.0, std::max(0.0, all_ranks() - length));
  rank1_ = rank0_ + length;
}

void LogicalView::react(Selection& selection) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool hovered = ImGui::IsItemHovered();
  const Point mouse = to_point(io.MousePos) - pane_at(io.MousePos.y).area().low;
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
    steps_in_sight(selection).reset();
    rank0_ = rank1_ = 0;
  }
  const double step = 0.5 * io.DeltaTime * (sight_.step1 - sight_.step0),
               rank = 0.5 * io.DeltaTime * (sight_.rank1 - sight_.rank0);
  const auto down = [](ImGuiKey key) { return ImGui::IsKeyDown(ImGui::GetKeyIndex(key)); };
  if (io.KeyAlt) return;  // back and forward
  move((down(ImGuiKey_RightArrow) - down(ImGuiKey_LeftArrow)) * step,
       (down(ImGuiKey_DownArrow) - down(ImGuiKey_UpArrow)) * rank, selection);
}

void LogicalView::hover(ImDrawList& list, const Scene& scene, Selection& selection) {
  if (!ImGui::IsItemHovered()) return;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const LogicalPane& pane = pane_at(mouse.y);
  if (!pane.area().holds(mouse)) return;
  if (comparing()) return hover_both(list, scene, selection, pane);
  const EventPlace place = pane.at(mouse);
  if (!place.known()) return;
  pane.light(list, scene, place);
  tooltip(event_words(*run_, place, sites_.sites()));
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && scene.snapshot)
    select_event(*run_, place, *scene.snapshot, selection);
}

// The event under the mouse, and that of the same rank and step in the other one.
void LogicalView::hover_both(ImDrawList& list, const Scene& scene, Selection& selection, const LogicalPane& pane) {
  const EventPlace place = pane.at(to_point(ImGui::GetIO().MousePos));
  if (!place.known()) return;
  const session::LogicalPhase& phase = *pane.run().phases[place.phase];
  const std::int32_t rank = phase.rank_of(place.box);
  const std::uint32_t step = phase.boxes[place.box].step;
  const EventPlace above = &pane == &first_ ? place : first_.event_at(rank, step),
                   below = &pane == &second_ ? place : second_.event_at(rank, step);
  const ComparedNames names = compared_names(scene, selection);
  const auto words = [&](const layout::ComparedSide& side, EventPlace of, const SitesOf& sites) {
    if (!of.known()) return std::string("no event of rank ") + std::to_string(rank) + " at this step";
    return event_words(*side.of, {side.numbers[of.phase], of.box}, sites.sites());
  };
  if (above.known()) first_.light(list, scene, above);
  if (below.known()) second_.light(list, scene, below);
  std::string text = names.first + "\n" + words(compared_->first, above, sites_) + "\n\n" + names.second + "\n" +
                     words(compared_->second, below, second_sites_);
  if (const auto by = layout::behind_s(*compared_, step))
    text += "\n\nuntil all were through this step, since the begin: below " + more_or_less(*by);
  tooltip(text);
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left) || !scene.snapshot) return;
  if (scene.compared != nullptr && &pane == &second_) {  // of another run only the rank is the same
    selection.rank = rank;
    selection.ranks = {rank};
    return;
  }
  const auto period = selection.period;  // one of two that are compared stays
  const layout::ComparedSide& side = &pane == &first_ ? compared_->first : compared_->second;
  select_event(*side.of, {side.numbers[place.phase], place.box}, *scene.snapshot, selection);
  if (scene.compared == nullptr) selection.period = period;
}

}  // namespace

std::unique_ptr<View> make_logical_view() { return std::make_unique<LogicalView>(); }

}  // namespace pclscope::gui
