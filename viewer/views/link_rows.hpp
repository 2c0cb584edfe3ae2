// Messages between regions, for people and programs.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

Rows link_rows(const std::vector<RegionLink>& links);
std::vector<std::string> link_lines(const std::vector<RegionLink>& links, std::size_t width);

// Links whose messages are later than those inside both of their regions, the worst first.
std::vector<RegionLink> bad_links(const Snapshot& snapshot);
// For the watch page: at most `most` lines with the title.
std::vector<std::string> link_section(const std::vector<RegionLink>& bad, std::size_t most);

}  // namespace pclscope::views
