// Of a job on several nodes: how well their clocks agree, which are not recorded any more, what was not sent to the
// root.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

// All of it in one line, what is lost first; empty when there is nothing to say.
std::string network_line(const Snapshot& snapshot);

// For `inspect`: a line per clock (the eight with the largest errors when there are more), dead nodes, what was left
// out.
std::vector<std::string> network_lines(const Snapshot& snapshot);

}  // namespace pclscope::views
