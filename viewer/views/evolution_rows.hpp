// How regions evolved: their periods and windows, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/page_options.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

struct EvolutionWindow {
  double begin_s = 0;
  double length_s = 0;
  RegionWindow sums;
  bool whole = true;  // false: only messages and typical_ratio are known (of a running job)
};
struct RegionEvolution {
  Region region;
  std::vector<EvolutionWindow> windows;  // oldest first; of a dump those with messages
};

// Of all regions of the snapshot, those of now first, their windows picked from those of the dump.
std::vector<RegionEvolution> evolution_of(const Snapshot& snapshot, const std::vector<Window>& windows);
// The same of a running job, with the windows that its snapshot has.
std::vector<RegionEvolution> live_evolution(const Snapshot& snapshot);

session::Json evolution_json(const std::vector<RegionEvolution>& regions);
Rows evolution_rows(const std::vector<RegionEvolution>& regions);  // one row per period
// `origin_realtime_ns`: second 0, for times of day. `options.width` 0: no limit.
std::vector<std::string> evolution_lines(const std::vector<RegionEvolution>& regions, std::int64_t origin_realtime_ns,
                                         const PageOptions& options);

}  // namespace pclscope::views
