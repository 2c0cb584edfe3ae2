// How a region's history is made smaller (the rule is in history.hpp).
#pragma once

#include <cstddef>

#include "viewer/session/history.hpp"

namespace pclscope::session {

enum class Thinning {
  calm,  // times that are neither growth nor steady: first window, one point for all between, last window
  all,   // the same of growth and steady periods
  drop,  // points and periods go
};

// What ends at `until_s` or before. Cost: linear in the points. Returns whether anything was left out.
bool thin(RegionHistory& history, Thinning level, double until_s);
// About, of its points and periods after thin().
std::size_t bytes_when_thinned(const RegionHistory& history, Thinning level, double until_s);

}  // namespace pclscope::session
