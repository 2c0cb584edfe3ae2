// Parts of the program that it named itself, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

session::Json markers_json(const Snapshot& snapshot);
Rows marker_rows(const Snapshot& snapshot);
// A table; and a line about those of which something is missing. `width` 0: as long as they are.
std::vector<std::string> marker_lines(const Snapshot& snapshot, std::size_t width);

}  // namespace pclscope::views
