// What the parts of the evolution view share in one frame. Private to evolution_*.cpp.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "viewer/gui/base/view.hpp"
#include "viewer/layout/evolution_picture.hpp"
#include "viewer/layout/time_sight.hpp"

namespace pclscope::gui {

inline constexpr double log_ratios_above = 16;  // a curve's scale is logarithmic when its highest ratio is above

struct EvolutionFrame {
  const Scene& scene;
  const layout::EvolutionPicture& picture;
  const layout::TimeSight& sight;
  float gutter = 0;  // left edge of names and numbers
  std::vector<Mark>& marks;
  const layout::Palette& palette() const { return *scene.palette; }
  float points(float n) const { return n * scene.scale; }
};

// A part of the view with a picture on the time axis: shades what is compressed, and the selected period.
void shade_sections(const EvolutionFrame& frame, ImDrawList& list, float top, float bottom);
void shade_selected(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection, float top, float bottom);
// Growth: a rising wedge; steady: a band.
void draw_period(const EvolutionFrame& frame, ImDrawList& list, const Period& period, float top, float bottom);

// The curve of one region with its average; a click on a period selects it.
void draw_evolution_curve(const EvolutionFrame& frame, Selection& selection, layout::Rect area);
// Labels of the time axis.
void draw_time_labels(const EvolutionFrame& frame, ImDrawList& list, layout::Rect area);
// What things mean, in one line.
void draw_evolution_legend(const EvolutionFrame& frame, layout::Rect area);

// Regions with their circles, a row each; scrolls.
struct EvolutionRows {
  float row_height = 24;             // pixels; set by place()
  std::size_t first = 0, shown = 0;  // rows on the screen, and a few around them
  std::optional<std::int32_t> scroll_to;
  // Whether there is room for all regions.
  static bool fit(const EvolutionFrame& frame, layout::Rect area);
  void place(const EvolutionFrame& frame, layout::Rect area);
  void draw(const EvolutionFrame& frame, Selection& selection, layout::Rect area);

 private:
  void draw_row(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                const layout::EvolutionRow& row, float top);
  void draw_name(const EvolutionFrame& frame, ImDrawList& list, const Selection& selection,
                 const layout::EvolutionRow& row, float top);
  void react(const EvolutionFrame& frame, Selection& selection, const layout::EvolutionRow& row, float top);
  void scroll_by_wheel(const EvolutionFrame& frame, float most) const;
  void scroll_to_chosen(const EvolutionFrame& frame, float height);
};

// Words.
std::string moment_words(const Scene& scene, double second);  // "12.3 s (12:34:56.789Z)"
std::string period_words(const Scene& scene, double begin_s, double end_s);
std::string period_words(const Scene& scene, const Period& period);
std::string circle_words(const EvolutionFrame& frame, const layout::EvolutionRow& row,
                         const layout::EvolutionCircle& circle);
std::string row_words(const EvolutionFrame& frame, const layout::EvolutionRow& row);
const char* legend_words(int part);

}  // namespace pclscope::gui
