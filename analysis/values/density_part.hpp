// A part of the density of calls of a running job, in full resolution: what a viewer asks for, and what it gets.
#pragma once

#include <cstdint>

#include "analysis/values/call_density.hpp"

namespace pclscope {

struct DensityQuestion {
  std::int64_t from_ns = 0, to_ns = INT64_MAX;  // since the time origin
};

// All slices in [begin_ns, end_ns): whole slices, from the one with from_ns in it on. It may end before to_ns, so that
// an answer stays small: ask on from end_ns. It never ends before it has one slice.
struct DensityPart {
  std::int64_t begin_ns = 0, end_ns = 0;
  CallDensity density;
  bool operator==(const DensityPart&) const = default;
};

}  // namespace pclscope
