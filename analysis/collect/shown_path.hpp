// Paths as they may be printed. A job's token stands in the names of its files; output ends up in logs that others
// read.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace pclscope::collect {

// "/dev/shm/pclscope-TOKEN-1a2b3c4d-board" -> "/dev/shm/pclscope-...-1a2b3c4d-board".
inline std::string shown_path(const std::string& path) {
  constexpr std::size_t token_digits = 32;
  const auto is_digit = [](unsigned char c) { return std::isxdigit(c) != 0; };
  for (auto at = path.begin(); path.end() - at >= static_cast<std::ptrdiff_t>(token_digits); ++at) {
    if (!std::all_of(at, at + token_digits, is_digit)) continue;
    return std::string(path.begin(), at) + "..." + shown_path(std::string(at + token_digits, path.end()));
  }
  return path;
}

}  // namespace pclscope::collect
