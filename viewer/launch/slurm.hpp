// Slurm's own launcher, srun: when a site starts MPI with it, which of its plug-ins fits an MPI, and the step in which
// our ranks stand behind the application's. Pure functions of what the user asked for and of what Slurm printed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viewer/launch/launch_line.hpp"

namespace pclscope::launch {

bool is_srun(std::string_view launcher);

// What `srun --mpi=list` printed, as any version does: "pmix", "pmix_v4", "pmi2", "none" ...
std::vector<std::string> mpi_types(std::string_view printed);
// MpiDefault of `scontrol show config`; empty: it does not say.
std::string default_mpi_type(std::string_view config);
// Whether an MPI finds its world by PMIx: Open MPI, and another whose library (empty: unknown) calls it.
bool asks_pmix(Mpi mpi, const std::string& library);
// By this plug-in an MPI finds its world: one that asks PMIx by pmix in any version, others by pmi2 or Cray's.
bool fits(std::string_view type, bool asks_pmix);
// The best one that fits: "pmix", else the newest "pmix_vN"; "pmi2". Nothing: none does.
std::optional<std::string> choose_mpi_type(const std::vector<std::string>& types, bool asks_pmix);

// Variables by which sbatch and salloc tell srun how to spread tasks. It does not get them, as there are more tasks
// than they speak of; the application sees them as without us (RunFacts::slurm_spreading).
inline constexpr std::array<const char*, 4> spreading_variables{"SLURM_NTASKS_PER_NODE", "SLURM_NTASKS_PER_CORE",
                                                                "SLURM_NTASKS_PER_SOCKET", "SLURM_DISTRIBUTION"};

// The node of each task, one a line, in the order of ranks, the aggregators last; empty: Slurm decides, on one node.
std::string srun_hosts(const RunOptions& options, const RunFacts& facts);
// The step; `hosts_file` holds srun_hosts(), if that is not empty.
LaunchLine build_srun_line(const RunOptions& options, const RunFacts& facts, const std::string& hosts_file);
// The same as lines for a shell, which end with the step's status.
std::string srun_script(const RunOptions& options, const RunFacts& facts);

}  // namespace pclscope::launch
