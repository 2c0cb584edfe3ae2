// What the plots of the attribution view have in common: where they are, and what they may draw with.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/gui/base/canvas.hpp"
#include "viewer/gui/base/view.hpp"
#include "viewer/layout/attribution_plots.hpp"

namespace pclscope::gui {

struct PlotPanel {
  ImDrawList* list = nullptr;
  const layout::Palette* palette = nullptr;
  float scale = 1;
  const Snapshot* snapshot = nullptr;
  const std::vector<layout::UsableSlice>* slices = nullptr;
  layout::Rect title;                    // one line above the plot
  layout::Plot plot;                     // the caller sets area and time, the plot its values' axis
  layout::Rect side;                     // right of it; empty when there is no room
  bool hovered = false;                  // the mouse is in plot.area
  std::optional<SelectedPeriod> period;  // selected

  const Attribution& attribution() const { return snapshot->attribution; }
  layout::Point mouse() const { return to_point(ImGui::GetIO().MousePos); }
  const layout::UsableSlice* pointed() const { return layout::slice_at(*slices, plot.moment(mouse().x)); }
};

// A coloured box and words; the first alone where there is no room for all.
struct LegendEntry {
  layout::Rgba colour;
  std::string_view text;
};
// The title line; hovering it shows `meaning`.
void draw_title(const PlotPanel& panel, std::string_view title, const std::vector<LegendEntry>& legend,
                const char* meaning);
// Grid lines and labels left of the plot.
void draw_values(const PlotPanel& panel, const std::vector<double>& values, std::string (*text)(double));
int most_values(const PlotPanel& panel);  // that have room
// In the middle of an empty plot.
void draw_absence(const PlotPanel& panel, const char* why);
void draw_polylines(const PlotPanel& panel, const std::vector<layout::Polyline>& lines, layout::Rgba colour,
                    float width);
// "12.0 s to 12.5 s".
std::string time_text(const layout::TimeRange& time);

// Messages inside and between nodes, with a pie of the whole run beside it.
void draw_mapping_plot(PlotPanel& panel);
void draw_balance_plot(PlotPanel& panel);

}  // namespace pclscope::gui
