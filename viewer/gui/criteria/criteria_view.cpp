// What is usual (PCLVis, criteria plot): the time that a message's own time is compared with, by its size, inside
// nodes blue, between nodes red.
#include <imgui.h>

#include <cmath>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/criteria_plot.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::gui {
namespace {

using layout::CriteriaPlot;
using layout::CriteriaPoint;
using layout::Point;
using layout::Rect;

constexpr float reach_points = 14;  // of the mouse

class CriteriaView final : public View {
 public:
  const char* title() const override { return "what is usual: time by message size"; }
  void draw(const Scene& scene, Selection& selection) override;
  std::vector<Mark> marks() const override { return marks_; }

 private:
  void draw_axes(const Scene& scene, const CriteriaPlot& plot) const;
  void draw_line(const Scene& scene, const std::vector<Criterion>& criteria, const std::vector<CriteriaPoint>& points,
                 layout::Rgba colour) const;
  void draw_legend(const Scene& scene, const CriteriaPlot& plot, Point at) const;

  std::vector<Mark> marks_;
};

// A disc's size says how many messages there were; a ring: none, another bin's criterion stands in.
void CriteriaView::draw_line(const Scene& scene, const std::vector<Criterion>& criteria,
                             const std::vector<CriteriaPoint>& points, layout::Rgba colour) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 1; i < points.size(); ++i)
    list.AddLine(to_imgui(points[i - 1].at), to_imgui(points[i].at), to_imgui(colour), 1.5f * scene.scale);
  for (const CriteriaPoint& point : points) {
    const auto count = static_cast<double>(criteria[point.index].count);
    const float radius = scene.scale * (2.5f + 0.7f * static_cast<float>(std::log10(count + 1)));
    if (count > 0) list.AddCircleFilled(to_imgui(point.at), radius, to_imgui(colour));
    else list.AddCircle(to_imgui(point.at), radius, to_imgui(colour));
  }
}

void CriteriaView::draw_axes(const Scene& scene, const CriteriaPlot& plot) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const ImU32 grid = to_imgui(p.grid.with_alpha(0.5f));
  for (const double bytes :
       layout::size_ticks(plot, static_cast<int>(plot.area.width() / (5.5f * ImGui::GetFontSize())))) {
    const float x = plot.x(bytes);
    list.AddLine({x, plot.area.low.y}, {x, plot.area.high.y}, grid);
    const std::string text = text::format_bytes(bytes);
    draw_text(list, {x - text_size(text).x / 2, plot.area.high.y + 3 * scene.scale}, p.faint_text, text);
  }
  for (const double seconds : layout::duration_ticks(plot)) {
    const float y = plot.y(seconds);
    list.AddLine({plot.area.low.x, y}, {plot.area.high.x, y}, grid);
    const std::string text = text::format_seconds(seconds);
    draw_text(list, {plot.area.low.x - text_size(text).x - 5 * scene.scale, y - line_height() / 2}, p.faint_text, text);
  }
  list.AddRect(to_imgui(plot.area.low), to_imgui(plot.area.high), to_imgui(p.grid));
}

void CriteriaView::draw_legend(const Scene& scene, const CriteriaPlot& plot, Point at) const {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const layout::Palette& p = *scene.palette;
  const auto item = [&](const char* words, layout::Rgba colour) {
    const float size = ImGui::GetFontSize() * 0.7f;
    list.AddRectFilled({at.x, at.y + size * 0.3f}, {at.x + size, at.y + size * 1.3f}, to_imgui(colour));
    draw_text(list, {at.x + size + 5 * scene.scale, at.y}, p.faint_text, words);
    at.x += size + text_size(words).x + 18 * scene.scale;
  };
  item("within nodes", p.successor);
  if (!plot.between.empty()) item("between nodes", p.predecessor);
  if (!plot.inside_transfer.empty() || !plot.between_transfer.empty())
    draw_text(list, at, p.faint_text, "faint: of the transfer alone");
}

void CriteriaView::draw(const Scene& scene, Selection&) {
  marks_.clear();
  const Point low = to_point(ImGui::GetCursorScreenPos()), size = to_point(ImGui::GetContentRegionAvail());
  if (size.x < 8 || size.y < 8 || !scene.snapshot) return;
  const float s = scene.scale, line = line_height();
  const std::vector<Criterion>& criteria = scene.snapshot->criteria;
  const Rect area{{low.x + 70 * s, low.y + line + 8 * s}, {low.x + size.x - 30 * s, low.y + size.y - line - 10 * s}};
  if (area.width() < 8 || area.height() < 8) return;
  const CriteriaPlot plot = layout::criteria_plot(criteria, area);
  if (plot.empty()) {
    const std::string words = "nothing is usual yet: no messages were matched";
    return draw_text(*ImGui::GetWindowDrawList(), {low.x + (size.x - text_size(words).x) / 2, low.y + size.y / 2},
                     scene.palette->faint_text, words, size.x);
  }
  draw_axes(scene, plot);
  draw_legend(scene, plot, {area.low.x, low.y + 3 * s});
  const layout::Palette& p = *scene.palette;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.PushClipRect(to_imgui(area.low), to_imgui(area.high), true);
  draw_line(scene, criteria, plot.inside_transfer, p.successor.with_alpha(0.35f));
  draw_line(scene, criteria, plot.between_transfer, p.predecessor.with_alpha(0.35f));
  draw_line(scene, criteria, plot.inside, p.successor);
  draw_line(scene, criteria, plot.between, p.predecessor);
  list.PopClipRect();
  marks_.push_back({"criteria points " + std::to_string(plot.points()), area.middle()});
  ImGui::SetCursorScreenPos(to_imgui(area.low));
  ImGui::InvisibleButton("criteria", {area.width(), area.height()});
  if (!ImGui::IsItemHovered()) return;
  const CriteriaPoint* near = layout::point_near(plot, to_point(ImGui::GetIO().MousePos), reach_points * s);
  if (near == nullptr) return;
  const Criterion& c = criteria[near->index];
  std::string words =
      (c.bytes_high > c.bytes_low + 1 ? text::format_bytes(static_cast<double>(c.bytes_low)) + " to less than " +
                                            text::format_bytes(static_cast<double>(c.bytes_high))
                                      : text::format_bytes(static_cast<double>(c.bytes_low))) +
      (c.inter_node ? ", between nodes" : ", within a node");
  words += "\nusual, what ratios compare with: " + text::format_seconds(c.criterion_s);
  if (c.transfer_criterion_s > 0) words += "\nof the transfer alone: " + text::format_seconds(c.transfer_criterion_s);
  words += c.count > 0 ? "\n" + text::format_count(c.count) + " messages, median " + text::format_seconds(c.median_s)
                       : "\nno message of that size: a neighbour's, or a baseline's";
  list.AddCircle(to_imgui(near->at), 8 * s, to_imgui(p.selection), 0, 1.5f * s);
  tooltip(words);
}

}  // namespace

std::unique_ptr<View> make_criteria_view() { return std::make_unique<CriteriaView>(); }

}  // namespace pclscope::gui
