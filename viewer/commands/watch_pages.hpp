// The pages of `pclscope watch --page` as text, where there is no full screen.
#pragma once

#include <string>
#include <vector>

#include "viewer/session/session.hpp"
#include "viewer/views/page_options.hpp"

namespace pclscope::commands {

// At most options.height lines of at most options.width columns.
std::vector<std::string> calls_lines(const Snapshot& snapshot, const views::PageOptions& options);
// Asks the run: a running job for its newest messages, a dump for all.
std::vector<std::string> phases_lines(session::Session& session, const Snapshot& snapshot,
                                      const views::PageOptions& options);

}  // namespace pclscope::commands
