// The metric over all steps of the run; its brush is what the other views of logical time show.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/logical/logical_words.hpp"
#include "viewer/layout/logical_picture.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::Point;
using layout::Rect;

constexpr float least_drag = 3;     // pixels: less is a click
constexpr float caught_within = 5;  // points from an end of the brush

class OverviewView final : public View {
 public:
  const char* title() const override { return "where in the run: metric overview"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  std::vector<ViewAxis> axes() const override {
    if (area_.width() < 1) return {};
    const double steps = std::max<double>(run_->steps, 1);
    return {
        {AxisKind::steps, area_,
         [area = area_, steps](float x) { return static_cast<double>((x - area.low.x) / area.width()) * steps; },
         [area = area_, steps](double step) { return area.low.x + static_cast<float>(step / steps) * area.width(); }}};
  }
  bool unsettled() const override { return reading_; }

 private:
  enum class Grip { none, left, right, middle, fresh };
  void brush(const Scene& scene, Selection& selection, const Rect& area);
  double step_at(float x, const Rect& area) const {
    return std::clamp(static_cast<double>(x - area.low.x) / area.width(), 0.0, 1.0) * run_->steps;
  }
  float x_of(double step, const Rect& area) const {
    return area.low.x + static_cast<float>(step / std::max<double>(run_->steps, 1)) * area.width();
  }

  std::shared_ptr<const session::LogicalRun> run_, bars_of_;
  Rect area_{};  // of the bars, as drawn last
  std::vector<float> bars_;
  logical::Metric metric_ = logical::Metric::lateness;
  bool reading_ = false;
  Grip grip_ = Grip::none;
  double pressed_ = 0;  // step
  float pressed_x_ = 0;
  SelectedSteps before_;  // when it was pressed
  std::vector<Mark> marks_;
};

void OverviewView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  area_ = {};
  const Point low = to_point(ImGui::GetCursorScreenPos());
  const ImVec2 size = ImGui::GetContentRegionAvail();
  const Rect whole{low, low + Point{std::max(size.x, 1.f), std::max(size.y, 1.f)}};
  if (scene.logical == nullptr) return;
  run_ = scene.logical->run(scene);
  reading_ = scene.logical->reading();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const float line = line_height(), s = scene.scale;
  const std::string words = scene.logical->words(scene);
  if (!run_ || run_->steps == 0) {
    draw_text(list, whole.middle() - Point{std::min(text_size(words).x, whole.width() - 8 * s) / 2, line / 2},
              p.faint_text, words, whole.width() - 8 * s);
    return;
  }
  const Rect area{{whole.low.x + 8 * s, whole.low.y + line + 4 * s},
                  {whole.high.x - 8 * s, whole.high.y - line - 4 * s}};
  if (area.width() < 8 || area.height() < 4) return;
  const int count =
      std::min(static_cast<int>(area.width()), static_cast<int>(std::min<std::uint32_t>(run_->steps, 8192)));
  if (bars_of_ != run_ || metric_ != scene.logical->metric || bars_.size() != static_cast<std::size_t>(count)) {
    bars_of_ = run_;
    metric_ = scene.logical->metric;
    bars_ = layout::overview_bars(*run_, metric_, 0, run_->steps, count);
  }
  const float most = bars_.empty() ? 0 : *std::max_element(bars_.begin(), bars_.end());
  const std::string scale = std::string("sum of ") + name_of(metric_) + " over ranks, of a step: up to " +
                            value_words(metric_, static_cast<double>(most)) + (words.empty() ? "" : "; " + words);
  draw_text(list, {area.low.x, whole.low.y + 2 * s}, p.faint_text, scale, area.width());
  const float wide = area.width() / static_cast<float>(std::max(count, 1));
  for (int i = 0; i < count; ++i) {
    const float share = most > 0 ? bars_[static_cast<std::size_t>(i)] / most : 0;
    const float left = area.low.x + wide * static_cast<float>(i);
    list.AddRectFilled({left, area.high.y - std::max(1.f, share * area.height())},
                       {left + std::max(1.f, wide >= 4 ? wide - 1 : wide), area.high.y},
                       to_imgui(layout::metric_colour(p, static_cast<double>(share), 1)));
  }
  marks_.push_back({"overview bars " + std::to_string(count), area.middle()});
  for (const double tick : ticks(0, run_->steps, std::max(1, static_cast<int>(area.width() / (90 * s))))) {
    const std::string text = text::format_count(static_cast<std::uint64_t>(tick));
    draw_text(list, {std::min(x_of(tick, area), whole.high.x - text_size(text).x - 2), area.high.y + 1}, p.faint_text,
              text);
  }
  area_ = area;
  brush(scene, selection, area);
}

void OverviewView::brush(const Scene& scene, Selection& selection, const Rect& area) {
  const float s = scene.scale, mouse = ImGui::GetIO().MousePos.x;
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("overview", {area.width(), area.height()});
  const SelectedSteps now = selection.steps.value_or(SelectedSteps{0, static_cast<double>(run_->steps)});
  const float left = x_of(now.first, area), right = x_of(now.end, area);
  if (ImGui::IsItemActivated()) {
    const float near = caught_within * s;
    grip_ = !selection.steps                   ? Grip::fresh
            : std::fabs(mouse - left) <= near  ? Grip::left
            : std::fabs(mouse - right) <= near ? Grip::right
            : mouse > left && mouse < right    ? Grip::middle
                                               : Grip::fresh;
    pressed_ = step_at(mouse, area);
    pressed_x_ = mouse;
    before_ = now;
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) {
    selection.steps.reset();
    grip_ = Grip::none;
  } else if (ImGui::IsItemActive() && grip_ != Grip::none && std::fabs(mouse - pressed_x_) >= least_drag) {
    const double to = step_at(mouse, area), all = run_->steps;
    SelectedSteps steps = before_;
    if (grip_ == Grip::left) steps.first = std::min(to, before_.end - 1);
    if (grip_ == Grip::right) steps.end = std::max(to, before_.first + 1);
    if (grip_ == Grip::fresh) steps = {std::floor(std::min(pressed_, to)), std::ceil(std::max(pressed_, to))};
    if (grip_ == Grip::middle) {
      const double by = std::clamp(to - pressed_, -before_.first, all - before_.end);
      steps = {before_.first + by, before_.end + by};
    }
    if (steps.end - steps.first >= all) selection.steps.reset();
    else if (steps.end > steps.first) selection.steps = steps;
  }
  if (ImGui::IsItemHovered() && !ImGui::IsItemActive())
    tooltip("Drag: the steps that the timeline shows; its ends and its middle can be dragged. Double click: all.");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  marks_.push_back({"overview left", {area.low.x + 1, area.middle().y}});
  marks_.push_back({"overview right", {area.high.x - 1, area.middle().y}});
  if (!selection.steps) return;
  const float from = x_of(selection.steps->first, area), until = x_of(selection.steps->end, area);
  list.AddRectFilled(to_imgui(area.low), {from, area.high.y}, to_imgui(p.background.with_alpha(0.6f)));
  list.AddRectFilled({until, area.low.y}, to_imgui(area.high), to_imgui(p.background.with_alpha(0.6f)));
  list.AddRect({from, area.low.y}, {until, area.high.y}, to_imgui(p.selection));
}

}  // namespace

std::unique_ptr<View> make_overview_view() { return std::make_unique<OverviewView>(); }

}  // namespace pclscope::gui
