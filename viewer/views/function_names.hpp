// MPI functions by name.
#pragma once

#include <cstdint>
#include <string>

#include "interpose/record/functions.hpp"

namespace pclscope::views {

// "MPI_Recv"; of numbers that are none see record::function_name.
inline std::string function_name(std::uint16_t function) { return std::string(record::function_name(function)); }

}  // namespace pclscope::views
