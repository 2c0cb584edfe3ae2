// A mapping as launchers take it (docs/mapping.md says how each is used).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/slot.hpp"
#include "analysis/values/result.hpp"

namespace pclscope::mapping {

enum class LaunchFormat : std::uint8_t {
  plain,             // "rank node"
  openmpi_rankfile,  // mpirun --rankfile
  hydra,             // mpiexec -f
  slurm,             // SLURM_HOSTFILE with srun --distribution=arbitrary
  cray,              // MPICH_RANK_ORDER with MPICH_RANK_REORDER_METHOD=3
  hydra_binding,     // an option of mpiexec
  slurm_binding,     // an option of srun
  wrapper,           // a script before the application, for any launcher
};

// `names`: of the nodes. `slots`: where inside, by rank; empty, or without a thread: not given. Errors: a node without
// a name, or one that would break the file; for cray, nodes that are not all filled alike; for bindings, ranks without
// a slot, and, where a launcher takes one list for all nodes, nodes that need different ones.
Result<std::string> launch_file(LaunchFormat format, const std::vector<std::int32_t>& node_of_rank,
                                const std::vector<std::string>& names, const std::vector<Slot>& slots = {});

}  // namespace pclscope::mapping
