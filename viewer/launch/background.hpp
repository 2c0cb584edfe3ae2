// A program that goes on when we have ended: in a session of its own, without our terminal.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::launch {

// Starts `arguments` (the first is a path) with additional environment variables, empty input, and its output appended
// to `log`, a file that is made anew (mode 0600). A preloaded pclscope library is not passed on. The caller may wait
// for the pid as for any child; nobody has to.
Result<pid_t> start_in_background(const std::vector<std::string>& arguments,
                                  const std::vector<std::pair<std::string, std::string>>& environment,
                                  const std::string& log);

}  // namespace pclscope::launch
