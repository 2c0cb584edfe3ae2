// A finding in the few words that fit into a row. Strings are safe to show.
#pragma once

#include <string>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::gui {

std::string finding_title(const Finding& finding);  // "late-sender (computation)"
// `region` as of layout::regions_of: "region 2, rank 9, solver.f90:812".
std::string finding_place(const Finding& finding, std::int32_t region, const Snapshot& snapshot,
                          const views::Sites& sites);
std::string finding_time(const Finding& finding);  // "since 10.0 s, 12.5 s of ranks' time (31%)"
// "call site: /src/solver.f90:812 in exchange_halo"; may be empty
std::string finding_site(const Finding& finding, const views::Sites& sites);
const char* cause_meaning(Cause cause);  // one sentence

}  // namespace pclscope::gui
