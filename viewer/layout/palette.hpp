// Every colour of the viewer, light and dark. Safe for the common colour blindnesses: latency runs from blue through
// grey to red (also by lightness), regions have the colours of Okabe and Ito (2008), shares run from yellow to dark
// red.
#pragma once

#include <cstdint>

#include "viewer/layout/geometry.hpp"

namespace pclscope::layout {

enum class Theme { light, dark };

struct Palette {
  Theme theme = Theme::dark;
  Rgba background;  // of a view
  Rgba panel;       // of boxes and tooltips
  Rgba text;
  Rgba faint_text;
  Rgba grid;                // axes, frames
  Rgba edge;                // links that nothing is known of
  Rgba selection;           // ring around what is selected
  Rgba predecessor;         // DAG: links from former processes (red)
  Rgba successor;           // DAG: links to latter processes (blue)
  Rgba calm;                // transfer lines that hardly vary (grey)
  Rgba good, warning, bad;  // status

  // Ratio L of a latency: blue at 1/4 and below, neutral at 1, red at `worst` and above (logarithmic). NaN, 0:
  // neutral.
  Rgba latency(double ratio, double worst = 8) const;
  Rgba region(std::int32_t id) const;    // by identity, kept over time; -1: grey
  Rgba harm(double zero_to_one) const;   // neutral to red
  Rgba share(double zero_to_one) const;  // yellow to red: load balance

 private:
  Rgba neutral() const;  // nothing to say
};

const Palette& palette(Theme theme);

}  // namespace pclscope::layout
