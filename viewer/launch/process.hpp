#pragma once

#include <cstdint>

namespace pclscope::launch {

// The process exists and is not a zombie. Pids are used again: it may be another one than you think of.
bool process_alive(std::uint32_t pid);

}  // namespace pclscope::launch
