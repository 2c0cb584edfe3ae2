// The output of a short helper program.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pclscope::launch {

// Runs `arguments` (the first is a path) with empty input and standard error thrown away. Its standard output, at
// most 64 KiB; nothing when it cannot be started, fails, or is not done in time (it is killed then).
std::optional<std::string> capture(const std::vector<std::string>& arguments, std::chrono::milliseconds limit);

}  // namespace pclscope::launch
