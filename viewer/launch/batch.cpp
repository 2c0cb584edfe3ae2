#include "viewer/launch/batch.hpp"

#include <cstdlib>
#include <fstream>
#include <vector>

#include "analysis/installation/installation.hpp"

namespace pclscope::launch {
namespace {

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

bool is_slurm_job(const std::string& id) {
  return !id.empty() && id.find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

Allocation allocation_of_job(const std::string& slurm_job, const std::string& cluster) {
  const Allocation around_us = allocation();
  if (!is_slurm_job(slurm_job)) return around_us;
  const bool ours = slurm_job == around_us.slurm_job && cluster.empty();
  return {true, slurm_job, ours ? around_us.cluster : cluster};
}

Allocation allocation() {
  Allocation found;
  found.slurm_job = value_of("SLURM_JOB_ID");
  found.cluster = value_of("SLURM_CLUSTER_NAME");
  if (!is_slurm_job(found.slurm_job)) found.slurm_job.clear();
  found.inside = !found.slurm_job.empty();
  for (const char* name : {"PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID", "PJM_JOBID"})
    found.inside = found.inside || !value_of(name).empty();
  found.inside = found.inside || (!value_of("JOB_ID").empty() && !value_of("SGE_ROOT").empty());
  return found;
}

Result<std::string> site_publishing() {
  std::vector<std::string> places = {value_of("PCLSCOPE_CONFIG")};
  if (places.front().empty()) places = {own_folder() + "/../etc/pclscope.conf", "/etc/pclscope.conf"};
  for (const std::string& path : places) {
    std::ifstream file(path);
    if (!file) continue;
    std::string publish = "auto";
    for (std::string line; std::getline(file, line);) {
      line = trimmed(line.substr(0, line.find('#')));
      const std::size_t equals = line.find('=');
      if (line.empty()) continue;
      if (equals == std::string::npos || trimmed(line.substr(0, equals)) != "publish")
        return Error{ErrorCode::bad_argument,
                     path + ": '" + line + "' is no setting: write publish = auto, local or none"};
      publish = trimmed(line.substr(equals + 1));
      if (publish != "auto" && publish != "local" && publish != "none")
        return Error{ErrorCode::bad_argument, path + ": publish = " + publish + ": write auto, local or none"};
    }
    return publish;
  }
  return std::string("auto");
}

}  // namespace pclscope::launch
