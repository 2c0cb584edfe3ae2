// Regions by their number.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

// One of now, or one that has ended. Fails with not_found and says which regions there are.
Result<const Region*> find_region(const Snapshot& snapshot, std::int32_t id);

// A moment at which the pattern of communication changed, from the regions that a snapshot has.
struct PatternChange {
  double at_s = 0;                         // since the time origin
  std::vector<std::int32_t> ended, began;  // ids, ascending
};
std::vector<PatternChange> pattern_changes(const Snapshot& snapshot);  // oldest first

}  // namespace pclscope::session
