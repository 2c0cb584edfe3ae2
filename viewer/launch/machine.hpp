// What a launcher would find out about this machine.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace pclscope::launch {

// Processor cores (not hardware threads) that this process may use: the slots that Open MPI counts by default.
int usable_cores();

// Names of all environment variables.
std::set<std::string> environment_names();

// How many processes a bare Open MPI mpirun would place without calling the node oversubscribed; 0 when hosts or a
// batch system decide and we cannot know.
int openmpi_slots(const std::vector<std::string>& launcher_args, const std::set<std::string>& environment, int cores);

}  // namespace pclscope::launch
