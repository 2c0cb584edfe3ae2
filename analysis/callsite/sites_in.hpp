// The call sites that a snapshot refers to.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

std::vector<std::uint32_t> sites_in(const Snapshot& snapshot);  // ids, ascending, each once; 0 may be among them

// These and their callers, theirs, and so on: ascending, each once, without 0.
template <class CallerOf>
std::vector<std::uint32_t> with_callers(std::vector<std::uint32_t> ids, CallerOf&& caller_of) {
  std::vector<std::uint32_t> all;
  std::sort(ids.begin(), ids.end());
  while (!ids.empty()) {  // a caller's id is the lower one
    const std::uint32_t id = ids.back();
    while (!ids.empty() && ids.back() == id) ids.pop_back();
    if (id == 0) break;
    all.push_back(id);
    const std::uint32_t caller = caller_of(id);
    if (caller < id) ids.insert(std::lower_bound(ids.begin(), ids.end(), caller), caller);
  }
  std::reverse(all.begin(), all.end());
  return all;
}

}  // namespace pclscope
