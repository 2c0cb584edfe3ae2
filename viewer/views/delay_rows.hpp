// Where delays began, for people and programs (analysis/delay has the definitions).
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/site_text.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// `regions` tells each rank's region.
session::Json delay_json(const DelayOrigin& delay, const std::vector<Region>& regions, const Sites& sites);
session::Json delays_json(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions,
                          const Sites& sites);
// As CSV: the victims' losses in a column of their own, as many as victims.
Rows delay_rows(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions, const Sites& sites);

// "rank 5, late at halo.c:42 after halo.c:37: cost 3.20 s, most to ranks 4,6".
std::string delay_line(const DelayOrigin& delay, const Sites& sites);
// A table; `width` 0: no limit.
std::vector<std::string> delay_lines(const std::vector<DelayOrigin>& delays, const std::vector<Region>& regions,
                                     const Sites& sites, std::size_t width);
// For the watch page: at most `most` lines with the title, in little room.
std::vector<std::string> delay_section(const Snapshot& snapshot, const Sites& sites, std::size_t most);

}  // namespace pclscope::views
