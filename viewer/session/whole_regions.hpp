// Regions of a whole run: clustered from all messages of each pair of ranks, whatever the patterns of communication
// were.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "viewer/session/session.hpp"

namespace pclscope::session {

struct WholeRegions {
  std::vector<Region> regions;    // numbered by smallest rank; messages and bytes only
  std::vector<RegionLink> links;  // most messages first
  Pattern pattern;                // modularity, and that of random graphs
};

// `method`: as in Dendrogram; empty: the default. Fails as Session::traffic().
Result<WholeRegions> whole_regions(Session& session, std::int32_t ranks, const std::string& method);

}  // namespace pclscope::session
