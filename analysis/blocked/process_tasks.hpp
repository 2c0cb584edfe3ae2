// How many threads a process has now: those that never called MPI have no ring, but may be about to.
#pragma once

#include <cstdint>

namespace pclscope::blocked {

std::uint32_t process_tasks(std::uint32_t pid);  // 0: no such process, or not to be known

}  // namespace pclscope::blocked
