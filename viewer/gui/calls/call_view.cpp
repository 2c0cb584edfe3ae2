// Every call of every rank: when it began or ended, how long it took, which function (Muelder et al., "MPI call view").
#include <algorithm>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "viewer/gui/base/selected_call.hpp"
#include "viewer/gui/calls/call_parts.hpp"
#include "viewer/gui/calls/call_singles.hpp"
#include "viewer/gui/calls/single_list.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::CallEdge;
using layout::CallPicture;
using layout::Opacity;
using layout::Point;
using layout::Rect;

constexpr float unlit_opacity = 0.4f;  // of counts below single calls that light up

class CallView final : public View {
 public:
  const char* title() const override { return "every call: begin or end, duration, function"; }
  std::vector<ViewAxis> axes() const override { return plot_.axes(false); }  // shift and drag: a rectangle
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return plot_.unsettled() || singles_.busy() || list_.busy() || reading_; }

 private:
  layout::TimeRange axis_of(const Scene& scene, const Selection& selection);
  void draw_plot(const Scene& scene, Selection& selection, const CallParts& parts, Rect listed);
  void draw_header(const Scene& scene, Rect area);
  void draw_scale(const Scene& scene, const CallParts& parts);
  std::string words_of_header(const Scene& scene) const;

  CallPlot plot_;
  CallSingles singles_;
  SingleList list_;
  CallEdge edge_ = CallEdge::start;          // of points
  std::optional<session::CallShape> shape_;  // none: by the number of calls
  Opacity opacity_ = Opacity::logarithmic;
  float least_ = 0.4f;
  std::optional<SelectedPeriod> period_;  // of the axis; none: the run
  std::shared_ptr<const session::TimelineRun> run_;
  bool reading_ = false;
  std::shared_ptr<const Snapshot> sites_of_;
  views::Sites sites_;
  std::vector<Mark> marks_;
};

// The selected period; but that of a call that was clicked stays in its surroundings.
layout::TimeRange CallView::axis_of(const Scene& scene, const Selection& selection) {
  const SelectedCall* call = selected_call(selection);
  if (call == nullptr) period_ = selection.period;
  const auto outside = [&](const SelectedPeriod& of) {
    return call != nullptr && !(of.begin_s < call->period().end_s && call->period().begin_s < of.end_s);
  };
  if (period_ && outside(*period_)) period_.reset();
  if (period_ && period_->begin_s < period_->end_s) return {period_->begin_s, period_->end_s};
  return {0, std::max(scene.snapshot->duration_s, 1e-9)};
}

void CallView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || !scene.snapshot) return;
  Rect area{low, low + size}, listed = area;
  if (list_.is_open()) area.high.y = listed.low.y = area.high.y - SingleList::height(size.y, scene.scale);
  const CallParts parts = call_parts(area, scene.scale);
  if (parts.plot.width() < 4 || parts.plot.height() < 4) return;
  if (sites_of_ != scene.snapshot) {
    sites_of_ = scene.snapshot;
    sites_ = views::Sites(sites_of_->sites);
  }
  run_ = scene.calls != nullptr ? scene.calls->run(scene) : nullptr;
  reading_ = scene.calls != nullptr && scene.calls->reading();
  layout::CallRequest wanted;
  wanted.snapshot = scene.snapshot;
  wanted.stack = false;
  wanted.function = selection.function;
  wanted.shape = shape_;
  wanted.run = run_;
  wanted.edge = edge_;
  wanted.opacity = opacity_;
  wanted.least = least_;
  plot_.follow(scene, wanted, axis_of(scene, selection), parts.plot);
  draw_plot(scene, selection, parts, listed);
}

void CallView::draw_plot(const Scene& scene, Selection& selection, const CallParts& parts, Rect listed) {
  const CallPicture* picture = plot_.picture();
  const bool told = picture != nullptr && picture->problem.empty() && picture->density != nullptr;
  std::optional<CallSight> sight;
  if (told) sight.emplace(CallSight{plot_, parts.plot, *picture, picture->of.edge, picture->shape, run_, sites_});
  const bool lit = sight && singles_.follow(scene, selection, *sight);
  plot_.draw(scene, parts.plot, lit ? unlit_opacity : 1);
  if (lit) singles_.draw_lit(*sight);
  if (sight) singles_.draw_selected(scene, selection, *sight);
  draw_header(scene, parts.header);
  const bool clicked = plot_.react(scene, selection, parts.plot, "calls", told);
  plot_.draw_axis(scene, parts.plot, parts.axis);
  marks_.push_back({"calls left", {parts.plot.low.x + 1, parts.plot.middle().y}});
  marks_.push_back({"calls middle", parts.plot.middle()});
  marks_.push_back({"calls right", {parts.plot.high.x - 1, parts.plot.middle().y}});
  if (picture == nullptr) return;
  if (!told)
    return draw_text(*ImGui::GetWindowDrawList(),
                     {parts.plot.low.x + 8 * scene.scale, parts.plot.middle().y - line_height() / 2},
                     scene.palette->faint_text, picture->problem, parts.plot.width() - 16 * scene.scale);
  draw_scale(scene, parts);
  draw_call_legend(scene, selection, *picture, parts.legend, marks_);
  if (plot_.double_clicked()) singles_.forget_click();
  else if (clicked && ImGui::GetIO().KeyShift) list_.close();
  else if (clicked) singles_.click(scene, selection, *sight);
  singles_.select(scene, selection);
  if (plot_.rectangle()) list_.open(sight->box_at(*plot_.rectangle()));
  else if (list_.is_open() && listed.low.y >= parts.axis.high.y) {
    const CallQuestionOfPart question = sight->question(*list_.box(), selection);
    const Rect box = sight->pixels_of(layout::box_of(question.part));
    ImGui::GetWindowDrawList()->AddRect(to_imgui(box.low), to_imgui(box.high), to_imgui(scene.palette->selection));
    list_.draw(scene, selection, listed, question, sites_, marks_);
  }
  if (plot_.hovered() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) singles_.explain(scene, selection, *sight);
}

void CallView::draw_header(const Scene& scene, Rect area) {
  float right = area.high.x - 6 * scene.scale;
  const float top = area.low.y + 2 * scene.scale;
  const auto button = [&](const char* word, bool pressed, const char* words) {
    return call_button(scene, word, word, pressed, right, top, marks_, words);
  };
  using session::CallShape;
  const CallPicture* picture = plot_.picture();
  const auto shape = [&](const char* word, CallShape of, CallEdge edge, const char* what) {
    const bool chosen = shape_ == of && edge_ == edge;
    const bool shown = picture != nullptr && picture->shape == of && picture->of.edge == edge;
    const std::string words =
        std::string(what) + (chosen ? "\nclick: as many calls allow (few arches, more lines, many points)" : "");
    if (!button(word, chosen || (!shape_ && shown), words.c_str())) return;
    shape_ = chosen ? std::nullopt : std::optional(of);
    edge_ = chosen ? CallEdge::start : edge;
  };
  shape("arches", CallShape::arches, CallEdge::start,
        "calls as arches: begin, end, and the top as high as the call was long");
  shape("lines", CallShape::lines, CallEdge::start, "calls as lines from begin to end, as high as they were long");
  shape("ends", CallShape::points, CallEdge::end, "calls where they ended: calls that ended together form a column");
  shape("starts", CallShape::points, CallEdge::start,
        "calls where they began: calls that began together form a column");
  if (button("linear", opacity_ == Opacity::linear, "opacity goes with the number of calls"))
    opacity_ = Opacity::linear;
  if (button("log", opacity_ == Opacity::logarithmic, "opacity goes with the logarithm of the number of calls"))
    opacity_ = Opacity::logarithmic;
  const float slider = 90 * scene.scale;
  if (right - slider > area.low.x + 120 * scene.scale) {
    right -= slider + ImGui::GetStyle().ItemSpacing.x;
    ImGui::SetCursorScreenPos({right, top});
    ImGui::SetNextItemWidth(slider);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ImGui::GetStyle().FramePadding.x, 0));
    ImGui::SliderFloat("##least", &least_, 0, 1, "o_min %.2f");
    ImGui::PopStyleVar();
    if (ImGui::IsItemHovered()) tooltip("opacity of a single call: outliers are seen as clearly as this");
    marks_.push_back({"o_min", middle_of_item()});
  }
  if (plot_.part() && button("all", false, "show all of the period (Home)")) plot_.show_all();
  draw_text(*ImGui::GetWindowDrawList(), {area.low.x + 6 * scene.scale, top}, scene.palette->faint_text,
            words_of_header(scene), std::max(1.f, right - area.low.x - 14 * scene.scale));
}

// What is shown; of single calls how many there are, or why there are none.
std::string CallView::words_of_header(const Scene& scene) const {
  const CallPicture* picture = plot_.picture();
  if (picture == nullptr) return "making the first picture";
  const bool points = picture->shape == session::CallShape::points;
  std::string words = !points                               ? "calls from begin to end"
                      : picture->of.edge == CallEdge::start ? "calls that began"
                                                            : "calls that ended";
  words += period_ ? " in the selected period" : "";
  if (!singles_.words().empty()) return words + ": " + singles_.words();
  if (picture->singly) return words + ", by duration; each by itself";
  words += ", by duration; counts of slices of " + text::format_seconds(picture->slice_s);
  if (run_ && run_->count.stored > 0) {
    const session::CallCount& count = run_->count;
    if (run_->live) return words + "; single " + scene.calls->words(scene);
    return words + (count.not_stored == 0
                        ? "; all calls are stored"
                        : "; " +
                              text::format_share(static_cast<double>(count.stored) /
                                                 static_cast<double>(count.stored + count.not_stored)) +
                              " of the calls are stored");
  }
  return words + "; " + (scene.calls != nullptr ? scene.calls->words(scene) : "no single calls");
}

// Powers of ten.
void CallView::draw_scale(const Scene& scene, const CallParts& parts) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::DurationRange range = plot_.picture()->durations;
  float free_below = parts.plot.high.y + line_height();
  for (int power = 0; power <= 14; ++power) {
    const double at = power * std::log2(10.0);
    if (at < range.low || at > range.high) continue;
    const float y =
        parts.plot.high.y - static_cast<float>((at - range.low) / (range.high - range.low)) * parts.plot.height();
    list.AddLine({parts.plot.low.x, y}, {parts.plot.high.x, y}, to_imgui(scene.palette->grid.with_alpha(0.5f)));
    if (y + line_height() / 2 > free_below) continue;
    const char* units[] = {"ns", "us", "ms", "s"};
    const int unit = std::min(power / 3, 3);
    const std::string words = std::to_string(std::lround(std::pow(10.0, power - 3 * unit))) + " " + units[unit];
    marks_.push_back({"duration " + words, {parts.plot.low.x + 1, y}});
    draw_text(list,
              {parts.scale.high.x - text_size(words).x - 4 * scene.scale,
               std::max(parts.plot.low.y, std::min(y - line_height() / 2, parts.plot.high.y - line_height()))},
              scene.palette->faint_text, words);
    free_below = y - line_height() / 2;
  }
}

}  // namespace

std::unique_ptr<View> make_calls_view() { return std::make_unique<CallView>(); }

}  // namespace pclscope::gui
