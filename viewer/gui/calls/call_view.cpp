// Every call of every rank: when it began or ended, how long it took, which function (Muelder et al., "MPI call view").
#include <algorithm>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "viewer/gui/calls/call_parts.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::CallEdge;
using layout::CallPicture;
using layout::Opacity;
using layout::Point;
using layout::Rect;

class CallView final : public View {
 public:
  const char* title() const override { return "every call: begin or end, duration, function"; }
  std::vector<ViewAxis> axes() const override { return plot_.axes(false); }  // shift and drag: a rectangle
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return plot_.unsettled(); }

 private:
  void draw_header(const Scene& scene, const Selection& selection, Rect area);
  void draw_scale(const Scene& scene, const CallParts& parts) const;
  double duration_at(float y, Rect plot) const;  // log2 of ns
  void explain(Rect plot) const;

  CallPlot plot_;
  CallEdge edge_ = CallEdge::start;
  Opacity opacity_ = Opacity::logarithmic;
  float least_ = 0.4f;
  std::vector<Mark> marks_;
};

void CallView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || !scene.snapshot) return;
  const CallParts parts = call_parts({low, low + size}, scene.scale);
  if (parts.plot.width() < 4 || parts.plot.height() < 4) return;
  layout::CallRequest wanted;
  wanted.snapshot = scene.snapshot;
  wanted.stack = false;
  wanted.function = selection.function;
  wanted.edge = edge_;
  wanted.opacity = opacity_;
  wanted.least = least_;
  layout::TimeRange all{0, std::max(scene.snapshot->duration_s, 1e-9)};
  if (selection.period && selection.period->begin_s < selection.period->end_s)
    all = {selection.period->begin_s, selection.period->end_s};
  plot_.follow(scene, wanted, all, parts.plot);
  plot_.draw(scene, parts.plot);
  draw_header(scene, selection, parts.header);
  plot_.react(scene, selection, parts.plot, "calls");
  plot_.draw_axis(scene, parts.plot, parts.axis);
  marks_.push_back({"calls left", {parts.plot.low.x + 1, parts.plot.middle().y}});
  marks_.push_back({"calls middle", parts.plot.middle()});
  marks_.push_back({"calls right", {parts.plot.high.x - 1, parts.plot.middle().y}});
  const CallPicture* picture = plot_.picture();
  if (picture == nullptr) return;
  if (!picture->problem.empty())
    return draw_text(*ImGui::GetWindowDrawList(),
                     {parts.plot.low.x + 8 * scene.scale, parts.plot.middle().y - line_height() / 2},
                     scene.palette->faint_text, picture->problem, parts.plot.width() - 16 * scene.scale);
  draw_scale(scene, parts);
  draw_call_legend(scene, selection, *picture, parts.legend, marks_);
  if (plot_.hovered() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) explain(parts.plot);
}

void CallView::draw_header(const Scene& scene, const Selection& selection, Rect area) {
  float right = area.high.x - 6 * scene.scale;
  const float top = area.low.y + 2 * scene.scale;
  const auto button = [&](const char* word, bool pressed, const char* words) {
    return call_button(scene, word, word, pressed, right, top, marks_, words);
  };
  if (button("ends", edge_ == CallEdge::end, "calls where they ended: calls that ended together form a column"))
    edge_ = CallEdge::end;
  if (button("starts", edge_ == CallEdge::start, "calls where they began: calls that began together form a column"))
    edge_ = CallEdge::start;
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
  const CallPicture* picture = plot_.picture();
  std::string words = "making the first picture";
  if (picture != nullptr) {
    words = (edge_ == CallEdge::start ? "calls that began" : "calls that ended");
    words += selection.period ? " in the selected period" : "";
    words += ", by duration; counts of slices of " + text::format_seconds(picture->slice_s) + ", no single calls";
  }
  draw_text(*ImGui::GetWindowDrawList(), {area.low.x + 6 * scene.scale, top}, scene.palette->faint_text, words,
            std::max(1.f, right - area.low.x - 14 * scene.scale));
}

double CallView::duration_at(float y, Rect plot) const {
  const layout::DurationRange range = plot_.picture()->durations;
  return range.low + static_cast<double>((plot.high.y - y) / plot.height()) * (range.high - range.low);
}

// Powers of ten.
void CallView::draw_scale(const Scene& scene, const CallParts& parts) const {
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
    draw_text(list,
              {parts.scale.high.x - text_size(words).x - 4 * scene.scale,
               std::max(parts.plot.low.y, std::min(y - line_height() / 2, parts.plot.high.y - line_height()))},
              scene.palette->faint_text, words);
    free_below = y - line_height() / 2;
  }
}

void CallView::explain(Rect plot) const {
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const double second = plot_.second_at(mouse.x), duration = duration_at(mouse.y, plot);
  std::string words = "at " + text::format_seconds(second) + ", calls of about " +
                      text::format_seconds(std::exp2(duration) * 1e-9) + ":";
  const auto found = layout::calls_at(*plot_.picture(), second, duration);
  for (const CallPicture::Entry& entry : found)
    words += "\n  " + std::string(record::function_name(entry.function)) + "  " + text::format_count(entry.calls);
  if (found.empty()) words += " none";
  tooltip(words);
}

}  // namespace

std::unique_ptr<View> make_calls_view() { return std::make_unique<CallView>(); }

}  // namespace pclscope::gui
