// A place inside a node, as launchers name it.
#pragma once

#include <cstdint>

namespace pclscope::mapping {

struct Slot {
  std::int32_t thread = -1;  // hardware thread: hwloc's logical index; -1: no place inside is given
  std::int32_t os = -1;      // the kernel's number of it
  std::int32_t core = -1;    // its core: hwloc's logical index
  bool alone = true;         // no other rank of the job is on this core
};

}  // namespace pclscope::mapping
