// The call sites that a snapshot refers to.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

std::vector<std::uint32_t> sites_in(const Snapshot& snapshot);  // ids, ascending, each once; 0 may be among them

}  // namespace pclscope
