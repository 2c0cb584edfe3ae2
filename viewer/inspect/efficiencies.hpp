// Efficiencies of a whole run.
#pragma once

#include <vector>

#include "viewer/inspect/run.hpp"
#include "viewer/views/efficiency_rows.hpp"

namespace pclscope::commands {

// Of the job, its regions, and its patterns where it had several: what `pclscope inspect TARGET efficiency` says. Empty
// when nothing is known.
std::vector<views::EfficiencyRow> efficiencies_of_run(InspectedRun& run);

}  // namespace pclscope::commands
