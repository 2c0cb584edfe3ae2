// What is said of arguments and files that cannot be used; for the sources of this folder.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "analysis/values/result.hpp"

namespace pclscope::mapping {

inline constexpr std::size_t longest_line = 4096;  // characters, of a file of routes or edges

inline Error bad(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

}  // namespace pclscope::mapping
