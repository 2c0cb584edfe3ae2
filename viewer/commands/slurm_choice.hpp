// Whether Slurm's srun starts a job instead of an mpirun, and with which of its plug-ins for MPI.
#pragma once

#include <optional>
#include <string>

#include "viewer/commands/run_options.hpp"
#include "viewer/launch/detect_mpi.hpp"
#include "viewer/launch/launch_line.hpp"

namespace pclscope::commands {

// Inside an allocation, the path of srun; else empty.
std::string srun_of_allocation(const std::string& search);
// The site starts programs of this MPI by srun: its Slurm's default plug-in (or SLURM_MPI_TYPE) is one that fits it.
bool site_uses_srun(const launch::Detection& detected, const std::string& search);
// MPICH's mpirun begins in a Slurm allocation of several nodes with one srun of its own, to which each node may be
// named once. Ours names a node for the application's ranks, and again for the aggregator.
bool mpirun_takes_nodes_once(const launch::Detection& detected, const RunWords& words, const std::string& search);

// Fills in `facts` for srun, `found` its path (empty: there is none here), or returns the exit status after saying why
// not.
std::optional<int> choose_srun(const RunWords& words, const launch::Detection& detected, const std::string& found,
                               const std::string& search, launch::RunFacts& facts);

// In a heterogeneous job: a line that says where ranks go; empty in any other.
std::string note_of_components(const RunWords& words);

}  // namespace pclscope::commands
