// Who is late in the phases of logical time, as text: for `watch`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "viewer/session/late_phases.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {

enum class PhaseOrder { newest, latest };  // the newest first; those with most lateness first

// What the list is about: "the newest 1.20 s of the job's messages: 40 phases".
std::string late_phase_title(const session::LatePhases& phases);
// Sentences: which ranks are most late, and which come late.
std::vector<std::string> late_rank_lines(const session::LatePhases& phases);
// A table, its titles first, of at most `most` phases; columns are left out where `width` (0: no limit) has no room.
std::vector<std::string> late_phase_lines(const session::LatePhases& phases, PhaseOrder order, const Sites& sites,
                                          std::size_t width, std::size_t most);

}  // namespace pclscope::views
