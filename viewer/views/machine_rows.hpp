// What nodes are inside, where ranks are bound, and their messages by distance, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/machine/places.hpp"
#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// "2 packages, 2 NUMA domains, 2 L3 caches, 8 cores, 16 hardware threads"; levels that it does not have are left out.
std::string machine_text(const Machine& machine);

// `traffic`: messages of each pair of ranks. `most_ranks`: so many in the list.
session::Json machine_json(const Snapshot& snapshot, const std::vector<PairTraffic>& traffic, std::size_t most_ranks);
Rows binding_rows(const Snapshot& snapshot, std::size_t most_ranks);
std::vector<std::string> machine_lines(const Snapshot& snapshot, const std::vector<PairTraffic>& traffic,
                                       std::size_t most_ranks, std::size_t width);

}  // namespace pclscope::views
