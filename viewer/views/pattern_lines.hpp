// Changes of the pattern of communication, and how good the present regions are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/session/summary_json.hpp"

namespace pclscope::views {

// "pattern changed at 12.3 s: regions 0-1 ended, 2-5 began"; oldest first. From the regions that the snapshot has.
std::vector<std::string> pattern_change_lines(const Snapshot& snapshot);
// "modularity 0.65, random graphs have 0.34"; empty when there are no regions or nothing is known.
std::string modularity_text(const Snapshot& snapshot);
// "0 s to 12.3 s", "since 12.3 s"; empty for one that was there from the beginning and goes on.
std::string interval_text(const Region& region);

}  // namespace pclscope::views
