#include "viewer/gui/causes/attribution_panel.hpp"

#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::gui {

void draw_title(const PlotPanel& panel, std::string_view title, const std::vector<LegendEntry>& legend,
                const char* meaning) {
  const layout::Rect& at = panel.title;
  const float gap = 10 * panel.scale, box = ImGui::GetFontSize() * 0.6f, line = ImGui::GetFontSize();
  draw_text(*panel.list, at.low, panel.palette->text, title, at.width());
  float x = at.low.x + text_size(title).x + 1.5f * gap;
  float whole = x;
  for (const LegendEntry& entry : legend) whole += box + 1.4f * gap + text_size(entry.text).x;
  for (const LegendEntry& entry : legend) {
    const std::string_view text = whole - gap > at.high.x ? entry.text.substr(0, entry.text.find(' ')) : entry.text;
    const float width = box + 0.4f * gap + text_size(text).x;
    if (x + width > at.high.x) break;
    const layout::Point corner{x, at.low.y + (line - box) / 2};
    panel.list->AddRectFilled(to_imgui(corner), to_imgui(corner + layout::Point{box, box}), to_imgui(entry.colour));
    draw_text(*panel.list, {x + box + 0.4f * gap, at.low.y}, panel.palette->faint_text, text);
    x += width + gap;
  }
  if (ImGui::IsWindowHovered() && at.holds(panel.mouse())) tooltip(meaning);
}

void draw_values(const PlotPanel& panel, const std::vector<double>& values, std::string (*text)(double)) {
  const layout::Rect& area = panel.plot.area;
  const float half = ImGui::GetFontSize() / 2;
  for (const double value : values) {
    const float y = panel.plot.y(value);
    panel.list->AddLine({area.low.x, y}, {area.high.x, y}, to_imgui(panel.palette->grid));
    const std::string label = text(value);
    const float label_y = std::clamp(y - half, area.low.y - half, area.high.y - 2 * half);
    draw_text(*panel.list, {area.low.x - 5 * panel.scale - text_size(label).x, label_y}, panel.palette->faint_text,
              label);
  }
}

int most_values(const PlotPanel& panel) {
  const float lines = panel.plot.area.height() / ImGui::GetFontSize();
  return lines < 2.5f ? 1 : std::max(2, static_cast<int>(lines / 2.2f));
}

void draw_absence(const PlotPanel& panel, const char* why) {
  const layout::Rect& area = panel.plot.area;
  const float room = std::max(1.f, area.width() - 8 * panel.scale);
  const ImVec2 size = ImGui::GetFont()->CalcTextSizeA(ImGui::GetFontSize(), HUGE_VALF, room, why);
  const ImVec4 clip(area.low.x, area.low.y, area.high.x, area.high.y);
  panel.list->AddText(ImGui::GetFont(), ImGui::GetFontSize(),
                      {area.middle().x - size.x / 2, std::max(area.low.y, area.middle().y - size.y / 2)},
                      to_imgui(panel.palette->faint_text), why, nullptr, room, &clip);
}

void draw_polylines(const PlotPanel& panel, const std::vector<layout::Polyline>& lines, layout::Rgba colour,
                    float width) {
  std::vector<ImVec2> points;
  for (const layout::Polyline& line : lines) {
    points.clear();
    for (const layout::Point p : line) {
      // Half a pixel apart is as good as there already.
      if (points.empty() || layout::distance(to_point(points.back()), p) > 0.5f) points.push_back(to_imgui(p));
    }
    panel.list->AddPolyline(points.data(), static_cast<int>(points.size()), to_imgui(colour), 0, width);
  }
}

std::string time_text(const layout::TimeRange& time) {
  return text::format_moment(time.begin_s) + " to " + text::format_moment(time.end_s);
}

}  // namespace pclscope::gui
