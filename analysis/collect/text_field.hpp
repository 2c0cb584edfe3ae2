// Texts in records of fixed size, as in segments and boards.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

namespace pclscope::collect {

// Ends at the first zero byte, or with the field.
template <std::size_t size>
std::string text_of(const char (&field)[size]) {
  return {field, strnlen(field, size)};
}

}  // namespace pclscope::collect
