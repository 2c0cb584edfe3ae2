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

// The shortest part in which the finding acted for at least 90 % of its periods. Only of parts that every rank was in
// once: of others it is not known when. nullptr: none.
const Marker* marker_of(const Finding& finding, const Snapshot& snapshot);

}  // namespace pclscope::views
