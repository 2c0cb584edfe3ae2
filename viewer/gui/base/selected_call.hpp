// The selected MPI call: what selecting one selects with it, and how it is told.
#pragma once

#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/gui/base/selection.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

// The call, its rank, that one's region, and its period.
void select_call(const SelectedCall& call, const Snapshot& snapshot, Selection& selection);

// "rank 5: MPI_Recv at halo.c:42, called from main.c:17, 2.10 ms from 1.2345 s on".
std::string call_line(const SelectedCall& call, const views::Sites& sites);
// From the call outwards, "exchange  halo.c:42"; empty: not known.
std::vector<std::string> call_path(std::uint64_t site, const views::Sites& sites);
// The same as one line: "halo.c:42 < main.c:17"; "?" when not known.
std::string call_path_line(std::uint64_t site, const views::Sites& sites);

}  // namespace pclscope::gui
