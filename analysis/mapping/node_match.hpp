// The nodes of a run in a topology's file, by name: n1 is n1.site.org, whichever of them the file has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/topology.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

// text() of a topology that Slurm told the run: nobody can give it as an option.
inline constexpr const char* told_by_slurm = "Slurm's topology, as the run found it";

// For each of `names` the topology's node of that name: the same one, else the one that is the same up to the first
// dot, where that is one alone. Errors: one that is not there, or that two names of the run would be.
Result<std::vector<std::int32_t>> match_nodes(const Topology& topology, const std::vector<std::string>& names);

// Whether nodes are found by name: a topology from a file. Of edges: where a name of the run is in it.
bool goes_by_name(const Topology& topology, const std::vector<std::string>& names);

}  // namespace pclscope::mapping
