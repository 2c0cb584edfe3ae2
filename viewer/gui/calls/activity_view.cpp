// What is everybody doing: the share of the ranks inside each MPI function, over time (Muelder et al., "timeline").
#include <algorithm>
#include <cmath>

#include "interpose/record/functions.hpp"
#include "viewer/gui/calls/call_parts.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::CallPicture;
using layout::Point;
using layout::Rect;

class ActivityView final : public View {
 public:
  const char* title() const override { return "what is everybody doing: stacked activity"; }
  std::vector<ViewAxis> axes() const override { return plot_.axes(true); }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }
  bool unsettled() const override { return plot_.unsettled(); }

 private:
  void draw_header(const Scene& scene, Selection& selection, Rect area);
  void draw_scale(const Scene& scene, const CallParts& parts) const;
  std::optional<std::size_t> layer_at(Point mouse, Rect plot) const;
  void explain(const Selection& selection, Rect plot) const;

  CallPlot plot_;
  bool fitted_ = false, whole_job_ = false;
  std::vector<Mark> marks_;
};

void ActivityView::draw(const Scene& scene, Selection& selection) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || !scene.snapshot) return;
  const CallParts parts = call_parts({low, low + size}, scene.scale);
  if (parts.plot.width() < 4 || parts.plot.height() < 4) return;
  layout::CallRequest wanted;
  wanted.snapshot = scene.snapshot;
  if (!whole_job_) wanted.region = selection.region;
  wanted.function = selection.function;
  wanted.fitted = fitted_;
  plot_.follow(scene, wanted, {0, std::max(scene.snapshot->duration_s, 1e-9)}, parts.plot);
  plot_.draw(scene, parts.plot);
  draw_header(scene, selection, parts.header);
  const bool clicked = plot_.react(scene, selection, parts.plot, "stack");
  plot_.draw_axis(scene, parts.plot, parts.axis);
  plot_.draw_period(scene, selection, parts.plot);
  marks_.push_back({"stack left", {parts.plot.low.x + 1, parts.plot.middle().y}});
  marks_.push_back({"stack middle", parts.plot.middle()});
  marks_.push_back({"stack right", {parts.plot.high.x - 1, parts.plot.middle().y}});
  const CallPicture* picture = plot_.picture();
  if (picture == nullptr) return;
  draw_scale(scene, parts);
  draw_call_legend(scene, selection, *picture, parts.legend, marks_);
  if (clicked) {
    const auto layer = layer_at(to_point(ImGui::GetIO().MousePos), parts.plot);
    if (!layer || *layer >= picture->stack->functions.size() || selection.function == picture->stack->functions[*layer])
      selection.function.reset();
    else selection.function = picture->stack->functions[*layer];
  }
  if (plot_.hovered() && !ImGui::IsMouseDown(ImGuiMouseButton_Left)) explain(selection, parts.plot);
}

void ActivityView::draw_header(const Scene& scene, Selection& selection, Rect area) {
  float right = area.high.x - 6 * scene.scale;
  const float top = area.low.y + 2 * scene.scale;
  if (call_button(scene, "fit", "fit", fitted_, right, top, marks_,
                  "the highest column reaches the top; else all ranks do"))
    fitted_ = !fitted_;
  if (selection.region && call_button(scene, "whole job", "whole job", whole_job_, right, top, marks_,
                                      "all ranks, or those of the selected region"))
    whole_job_ = !whole_job_;
  if (plot_.part() &&
      call_button(scene, "all", "all", false, right, top, marks_,
                  "show the whole run (Home)\nwheel: zoom, drag with the right button or arrow keys: pan"))
    plot_.show_all();
  const CallPicture* picture = plot_.picture();
  std::string words = "making the first picture";
  if (picture != nullptr) {
    words = picture->of.region && picture->problem.empty() ? "ranks of region " + std::to_string(*picture->of.region)
                                                           : std::string("all ranks");
    words += " inside MPI functions; what is empty is computation (or MPI_Init, MPI_Finalize); slices of " +
             text::format_seconds(picture->slice_s);
    if (!picture->problem.empty()) words = picture->problem;
  }
  draw_text(*ImGui::GetWindowDrawList(), {area.low.x + 6 * scene.scale, top}, scene.palette->faint_text, words,
            std::max(1.f, right - area.low.x - 14 * scene.scale));
}

void ActivityView::draw_scale(const Scene& scene, const CallParts& parts) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const double most = static_cast<double>(plot_.picture()->most);
  for (const double tick : ticks(0, most, std::max(1, static_cast<int>(parts.plot.height() / (34 * scene.scale))))) {
    const float y = parts.plot.high.y - static_cast<float>(tick / most) * parts.plot.height();
    const double percent = std::round(tick * 1e5) / 1e3;
    const std::string words =
        (percent == std::round(percent) ? std::to_string(std::lround(percent)) : text::format_ratio(percent)) + "%";
    draw_text(list,
              {parts.scale.high.x - text_size(words).x - 4 * scene.scale,
               std::max(parts.plot.low.y, std::min(y - line_height() / 2, parts.plot.high.y - line_height()))},
              scene.palette->faint_text, words);
    list.AddLine({parts.plot.low.x, y}, {parts.plot.high.x, y}, to_imgui(scene.palette->grid.with_alpha(0.4f)));
  }
}

std::optional<std::size_t> ActivityView::layer_at(Point mouse, Rect plot) const {
  const CallPicture& picture = *plot_.picture();
  if (!picture.stack || picture.stack->columns() == 0) return std::nullopt;
  const density::Stack& stack = *picture.stack;
  const double place = (plot_.second_at(mouse.x) - stack.begin_s) / (stack.end_s - stack.begin_s);
  if (!(place >= 0 && place <= 1)) return std::nullopt;
  const std::size_t column =
      std::min(static_cast<std::size_t>(place * static_cast<double>(stack.columns())), stack.columns() - 1);
  const float height = (plot.high.y - mouse.y) / plot.height() * picture.most;
  float top = 0;
  for (std::size_t layer = 0; layer < stack.shares.size(); ++layer)
    if (height < (top += stack.shares[layer][column])) return layer;
  return std::nullopt;
}

void ActivityView::explain(const Selection& selection, Rect plot) const {
  const CallPicture& picture = *plot_.picture();
  if (!picture.stack || picture.stack->columns() == 0) return;
  const density::Stack& stack = *picture.stack;
  const Point mouse = to_point(ImGui::GetIO().MousePos);
  const double second = plot_.second_at(mouse.x);
  const double place = std::clamp((second - stack.begin_s) / (stack.end_s - stack.begin_s), 0.0, 1.0);
  const std::size_t column =
      std::min(static_cast<std::size_t>(place * static_cast<double>(stack.columns())), stack.columns() - 1);
  const auto under = layer_at(mouse, plot);
  std::string words = "at " + text::format_seconds(second);
  for (std::size_t i = stack.shares.size(); i-- > 0;) {
    const auto share = static_cast<double>(stack.shares[i][column]);
    if (share < 0.0005) continue;
    const std::string name =
        i < stack.functions.size() ? std::string(record::function_name(stack.functions[i])) : "others";
    words += "\n" + std::string(under == i ? "> " : "  ") + name + "  " + text::format_ratio(100 * share) + "%";
  }
  words += "\n  computation  " +
           text::format_ratio(100 * std::max(0.0, 1 - static_cast<double>(stack.height(column)))) + "%";
  if (!selection.period) words += "\ndrag: select a period, which the call view shows";
  tooltip(words);
}

}  // namespace

std::unique_ptr<View> make_activity_view() { return std::make_unique<ActivityView>(); }

}  // namespace pclscope::gui
