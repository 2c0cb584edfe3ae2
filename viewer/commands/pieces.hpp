// Our own programs and libraries, which lie beside this one: bin/ and lib/ side by side, built or installed.
#pragma once

#include <optional>
#include <string>

#include "viewer/launch/batch.hpp"
#include "viewer/launch/launch_line.hpp"

namespace pclscope::commands {

std::string environment_or(const char* name, const char* otherwise);

// Fills in the paths for `facts.mpi`; returns the exit status after saying what is missing.
std::optional<int> find_pieces(launch::RunFacts& facts);

// Where ranks go: fills facts.placement, slots of Open MPI; takes out of the launcher's arguments what it says anew.
std::optional<int> find_nodes(const std::string& hosts, const std::string& rankfile, launch::RunOptions& options,
                              launch::RunFacts& facts);

// Where the job is published: fills facts.endpoint and what belongs to it. `given`: what the user said, may be empty.
// `allocation`: the job's. `own`: whether it is in this node's runtime directory.
std::optional<int> plan_publishing(const std::string& given, const launch::Allocation& allocation, bool root_is_here,
                                   launch::RunFacts& facts, bool& own);

}  // namespace pclscope::commands
