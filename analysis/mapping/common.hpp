// What files of this folder share; not for others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "analysis/result.hpp"

namespace pclscope::mapping {

inline constexpr std::size_t longest_line = 4096;  // characters, of a file of routes or edges
inline constexpr double least_gain = 1e-12;        // of a rank's mean weight: below it is rounding

inline std::size_t at(std::int32_t index) { return static_cast<std::size_t>(index); }
inline Error bad(std::string message) { return {ErrorCode::bad_argument, std::move(message)}; }

}  // namespace pclscope::mapping
