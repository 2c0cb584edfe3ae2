// Programs that call MPI around a preloaded library: seen before they are started.
#pragma once

#include <optional>
#include <string>

namespace pclscope::launch {

// Of one executable file: why the recorder would not see its calls, as words that follow the program's name ("has its
// MPI linked statically"); nothing when it would, or when this cannot be told (scripts, programs that start others).
std::optional<std::string> goes_around(const std::string& program);

}  // namespace pclscope::launch
