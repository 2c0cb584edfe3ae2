// A mapping as launchers take it (docs/mapping.md says how each is used).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::mapping {

enum class LaunchFormat : std::uint8_t {
  plain,             // "rank node"
  openmpi_rankfile,  // mpirun --rankfile
  hydra,             // mpiexec -f
  slurm,             // SLURM_HOSTFILE with srun --distribution=arbitrary
  cray,              // MPICH_RANK_ORDER with MPICH_RANK_REORDER_METHOD=3
};

// `names`: of the nodes. Errors: a node without a name, or one that would break the file; for cray, nodes that are not
// all filled alike.
Result<std::string> launch_file(LaunchFormat format, const std::vector<std::int32_t>& node_of_rank,
                                const std::vector<std::string>& names);

}  // namespace pclscope::mapping
