// On which nodes a launcher would start the ranks: from --hosts, from the launcher's own arguments, from Slurm, PBS or
// LSF.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"
#include "viewer/launch/detect_mpi.hpp"
#include "viewer/launch/hosts.hpp"

namespace pclscope::launch {

// What the launcher starts ranks on. No hosts: nothing is known, or it is this node alone.
struct Placement {
  Hosts hosts;                     // as listed, with slots
  std::vector<std::string> nodes;  // those that get ranks, in order: an aggregator each, the first is the root's
  bool by_option = false;          // the list came by --hosts and must be handed to the launcher
  bool filled = true;              // ranks fill the hosts in order; else the user's own arguments place them
  bool by_rank = false;            // hosts: one entry for each rank (a rank file)
  bool slots = false;              // the rank file says cores, too
};

// Reads a file; nothing when it cannot be read. Runs `scontrol show hostnames LIST`; nothing when that fails.
struct HostReaders {
  std::function<std::optional<std::string>(const std::string& path)> file;
  std::function<std::optional<std::string>(const std::string& list)> slurm_names;
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

struct HostQuestion {
  Mpi mpi = Mpi::openmpi;
  int ranks = 1;
  std::string hosts;                       // --hosts; empty = not given
  std::vector<std::string> launcher_args;  // what gave hosts to MPICH is taken out: its list is written anew
  std::string rankfile = {};               // --rankfile, its path; empty = not given
};

// Fails with bad_argument: a list that is not understood, too few slots, a placement that cannot be foreseen.
Result<Placement> find_placement(HostQuestion& question, const HostReaders& readers);

}  // namespace pclscope::launch
