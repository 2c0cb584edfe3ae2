// The regions on the watch page.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/page_options.hpp"

namespace pclscope::views {

// A title and at most `most` lines, worst regions first (viewer/session/harm.hpp). Where some region grows or is
// steady, a column says so in words; the history gets what is left of options.width.
std::vector<std::string> region_section(const Snapshot& snapshot, std::size_t most, const PageOptions& options);

}  // namespace pclscope::views
