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
  CallEdge edge = CallEdge::start;
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
CallBuffers call_buffers(const CallDensity& density, const FunctionColours& colours, const CallQuestion& question);

// `least`: o_min, 0 to 1.
Image call_image(const CallBuffers& buffers, Opacity opacity, float least);

}  // namespace pclscope::layout
