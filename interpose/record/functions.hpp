// Numbers and names of MPI functions, as they stand in Event::function and in files.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pclscope::record {

enum class Function : std::uint16_t {
  none = 0,
#define PCLSCOPE_FUNCTION(number, name) name = number,
#include "interpose/record/functions.def"
#undef PCLSCOPE_FUNCTION
};

inline constexpr std::size_t function_count = 0
#define PCLSCOPE_FUNCTION(number, name) +1
#include "interpose/record/functions.def"
#undef PCLSCOPE_FUNCTION
    ;

// "MPI_Send" for its number; "MPI_?" for a number this version does not know.
constexpr std::string_view function_name(std::uint16_t number) {
  switch (number) {
#define PCLSCOPE_FUNCTION(n, name) \
  case n:                          \
    return "MPI_" #name;
#include "interpose/record/functions.def"
#undef PCLSCOPE_FUNCTION
    default: return "MPI_?";
  }
}

}  // namespace pclscope::record
