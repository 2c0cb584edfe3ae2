// The call view (after Muelder et al.): every call of every rank, its begin or its end over time, its duration
// upwards on a logarithmic scale, its function as colour. Buffers in floats: density D and mean colour C of each pixel;
// what is seen is C with opacity o_min + (1 - o_min) log D / log D_max, or linear.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/values/call_density.hpp"
#include "viewer/layout/line_image.hpp"
#include "viewer/layout/time_range.hpp"
#include "viewer/layout/top_functions.hpp"
#include "viewer/session/call_point.hpp"

namespace pclscope::layout {

enum class CallEdge { start, end };
enum class Opacity { logarithmic, linear };

// log2 of nanoseconds.
struct DurationRange {
  double low = 0, high = 1;
  bool operator==(const DurationRange&) const = default;
};
// Whole octaves with all calls in them.
DurationRange durations_of(const CallDensity& density);

struct CallQuestion {
  session::CallShape shape = session::CallShape::points;
  CallEdge edge = CallEdge::start;  // where points are
  TimeRange range;
  DurationRange durations;
  int width = 1, height = 1;              // pixels, 1 to 8192
  std::optional<std::uint16_t> function;  // that alone
};

struct CallBuffers {
  int width = 0, height = 0;
  std::vector<float> density;  // calls per pixel, or per cell of the data where that is larger; rows from the top
  std::vector<float> colour;   // red, green, blue of each pixel, 0 to 255; 0 where nothing is
  float most = 0;              // of density
};
// Points. Lines and arches: call_strokes.hpp.
CallBuffers call_buffers(const CallDensity& density, const FunctionColours& colours, const CallQuestion& question);

bool drawable(const CallQuestion& question);              // its sides and ranges can be
CallBuffers empty_buffers(const CallQuestion& question);  // if it can be drawn: all 0
// While buffers are filled colour is a sum, weighted by calls.
inline void add_to(CallBuffers& buffers, int x, int y, float calls, Rgba colour) {
  const std::size_t at =
      static_cast<std::size_t>(y) * static_cast<std::size_t>(buffers.width) + static_cast<std::size_t>(x);
  buffers.density[at] += calls;
  buffers.colour[3 * at] += calls * colour.red;
  buffers.colour[3 * at + 1] += calls * colour.green;
  buffers.colour[3 * at + 2] += calls * colour.blue;
}
void mean_colours(CallBuffers& buffers);  // makes means of the sums, and finds the most

// `least`: o_min, 0 to 1.
Image call_image(const CallBuffers& buffers, Opacity opacity, float least);

}  // namespace pclscope::layout
