// Another cut of the tree that a run's regions come from, with latencies from the stored messages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "viewer/session/session.hpp"

namespace pclscope::session {

struct CutRegions {
  std::vector<Region> regions;    // numbered by smallest rank; no periods, no history
  std::vector<RegionLink> links;  // most messages first
};

// Into `count` regions, as near as there is a cut, else at `height`. Ratios are those of the final criteria. Memory: by
// ranks and pairs of regions. Fails with not_found (the dump has no tree), damaged, bad_argument.
Result<CutRegions> cut_regions(Session& session, const Snapshot& snapshot, std::optional<std::uint64_t> count,
                               double height);

}  // namespace pclscope::session
