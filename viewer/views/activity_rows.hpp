// Calls over time by MPI function, from the density of calls (analysis/density/): table, rows for programs, and the
// stack of functions as text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/call_density.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// What a snapshot says of calls over time.
struct ActivityOverTime {
  CallDensity density;                 // slices of time and of counts are equally long
  std::optional<std::int32_t> region;  // of which it is told; none: the whole job
  double ranks = 0;                    // of the job, or of the region
  double duration_s = 0;
  std::string why_not;  // one line: why there is none; empty
  double slice_s() const;
};
ActivityOverTime activity_of(const Snapshot& snapshot, std::optional<std::int32_t> region = {});

std::vector<std::string> activity_lines(const ActivityOverTime& activity, std::size_t width, bool ascii);
// By function, most time first; of each the slices in which it was called.
session::Json activity_json(const ActivityOverTime& activity);
Rows activity_rows(const ActivityOverTime& activity);

// The stack: `rows` lines of which the lowest is the first tenth (or so) of the ranks, a letter per function; below
// them the time, and what the letters mean.
std::vector<std::string> stack_lines(const ActivityOverTime& activity, std::size_t width, std::size_t rows);

}  // namespace pclscope::views
