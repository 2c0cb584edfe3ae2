// MPI calls of a dump, one by one, for people and programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/session/waits_of_ranks.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

struct TimelineRow {
  MpiCall call;
  bool running = false;         // it had not returned when the record ended: call.end is that moment
  std::int64_t waited_ns = -1;  // of it; -1 not looked at
  std::int32_t awaited = -1;    // for whom longest
  WaitState state = WaitState::none;
};

// With what `waits` know of it.
TimelineRow timeline_row(const MpiCall& call, const session::WaitsOfRanks& waits);
// Calls that had not returned at the end, of the summary.
std::vector<TimelineRow> running_calls(const Snapshot& snapshot);

session::Json timeline_json(const TimelineRow& row, const Sites& sites);
std::vector<std::string> timeline_lines(const std::vector<TimelineRow>& rows, const Sites& sites, std::size_t width);

}  // namespace pclscope::views
