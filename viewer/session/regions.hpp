// Regions by their number.
#pragma once

#include <cstdint>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::session {

// Fails with not_found and says which regions there are.
Result<const Region*> find_region(const Snapshot& snapshot, std::int32_t id);

}  // namespace pclscope::session
