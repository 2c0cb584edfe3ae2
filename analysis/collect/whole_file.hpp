// What a small file says, of a process that may end at any moment.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

namespace pclscope::collect {

// Empty when it cannot be read. Never throws for that: an iterator over the stream's buffer would, when the process of
// a file in /proc ends between the opening and the reading.
inline std::string whole_file(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

}  // namespace pclscope::collect
