#include "viewer/launch/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

extern char** environ;

namespace pclscope::launch {
namespace {

int read_number(const std::string& path, int otherwise) {
  std::ifstream file(path);
  int value = otherwise;
  return file >> value ? value : otherwise;
}

std::string_view without_dashes(std::string_view word) {
  const auto start = word.find_first_not_of('-');
  return start == std::string_view::npos || start == 0 ? std::string_view() : word.substr(start);
}

}  // namespace

int usable_cores() {
  constexpr int most = 1 << 16;
  cpu_set_t* set = CPU_ALLOC(most);
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  std::set<std::pair<int, int>> cores;
  if (set != nullptr && ::sched_getaffinity(0, bytes, set) == 0) {
    for (int cpu = 0; cpu < most; ++cpu) {
      if (!CPU_ISSET_S(cpu, bytes, set)) continue;
      const std::string place = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      // Without topology every processor counts as a core of its own.
      cores.emplace(read_number(place + "physical_package_id", -1), read_number(place + "core_id", -2 - cpu));
    }
  }
  if (set != nullptr) CPU_FREE(set);
  if (!cores.empty()) return static_cast<int>(cores.size());
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

std::set<std::string> environment_names() {
  std::set<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view pair = *entry;
    names.emplace(pair.substr(0, pair.find('=')));
  }
  return names;
}

int openmpi_slots(const std::vector<std::string>& launcher_args, const std::set<std::string>& environment, int cores) {
  for (const std::string& word : launcher_args) {
    const std::string_view name = without_dashes(word);
    for (const char* option : {"H", "host", "hostfile", "machinefile", "default-hostfile", "use-hwthread-cpus",
                               "use-hwthreads-as-cpus", "cpu-set", "cpu-list", "rankfile", "rf"}) {
      if (name == option) return 0;
    }
  }
  for (const char* variable :
       {"SLURM_JOB_ID", "SLURM_JOBID", "PBS_JOBID", "LSB_JOBID", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile",
        "OMPI_MCA_hwloc_base_use_hwthreads_as_cpus", "PRTE_MCA_prte_default_hostfile"}) {
    if (environment.contains(variable)) return 0;
  }
  return cores;
}

}  // namespace pclscope::launch
