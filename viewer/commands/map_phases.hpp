// One placement for a run whose pattern of communication changes, and what each of its phases would have with its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/mapping/mapping.hpp"
#include "viewer/session/placement_gain.hpp"

namespace pclscope::commands {

// While one pattern lasted (the regions' from_s and until_s). Costs are of this phase's messages alone.
struct MapPhase {
  double begin_s = 0, end_s = 0;
  std::uint64_t messages = 0;
  mapping::MappingCost now, common, own;   // as placed, with the placement for all phases, with one for this phase
  std::vector<std::int32_t> node_of_rank;  // the own one
  // Replayed; nothing: cannot be told.
  std::optional<WhatIf> gain_common, gain_own;
  bool apart = false;  // its own placement has at least a tenth less of the objective than the common one
};

struct MapPhases {
  std::vector<MapPhase> phases;  // by time; one: the pattern did not change
  std::string note;              // a line; empty: nothing is lacking
};

// `problem`: of the whole run; `current` is what it begins with. `common`: the placement for all phases. `calls` may be
// null. Fails with what the dump's messages fail with, and not_found: it has none.
Result<MapPhases> map_phases(const std::string& path, const mapping::MappingProblem& problem,
                             const std::vector<std::int32_t>& current, const std::vector<std::int32_t>& common,
                             const session::RecordedCalls* calls, const std::optional<LinkTimes>& given);

std::vector<std::string> lines_of(const MapPhases& phases, mapping::Objective objective, const std::string& measure);
session::Json json_of(const MapPhases& phases, mapping::Objective objective);

}  // namespace pclscope::commands
