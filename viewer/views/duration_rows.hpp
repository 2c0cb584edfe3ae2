// Calls by MPI function, time and duration, from the density of calls (analysis/density/): what pictures of calls show,
// for programs; and how durations of each function are distributed, as text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/values/call_density.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

struct CallDurations {
  CallDensity density;
  std::string why_not;  // one line: why there is none; empty
  double slice_s() const;
};
CallDurations durations_of(const Snapshot& snapshot);

// Per function, most time first: calls, and the bins in which half and 99 % of them are reached.
std::vector<std::string> duration_lines(const CallDurations& durations, std::size_t width, bool ascii);
// By function the bins that hold something, ascending by slice and duration.
session::Json durations_json(const CallDurations& durations);
Rows duration_rows(const CallDurations& durations);

}  // namespace pclscope::views
