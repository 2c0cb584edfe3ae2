// What a batch system says of the allocation that we are in, and what the site says of publishing.
#pragma once

#include <string>

#include "analysis/values/result.hpp"

namespace pclscope::launch {

struct Allocation {
  bool inside = false;    // of Slurm, PBS, LSF, Grid Engine, Flux, OAR or Fujitsu's
  std::string slurm_job;  // Slurm's id; empty elsewhere
  std::string cluster;    // as Slurm calls it; may be empty
};
Allocation allocation();  // from the environment
// Of a job that runs already: what it said itself (`slurm_job` empty: nothing) goes before what is around us, who may
// have come by ssh, or from another allocation.
Allocation allocation_of_job(const std::string& slurm_job, const std::string& cluster);

// Where jobs are published when the user does not say: "auto" (a local socket, and an encrypted TCP port inside an
// allocation), "local" or "none". From $PCLSCOPE_CONFIG, else etc/pclscope.conf of the installation, else
// /etc/pclscope.conf: a line "publish = local". Fails with bad_argument when there is something else.
Result<std::string> site_publishing();

}  // namespace pclscope::launch
