// Lines as one text, to look for words in.
#pragma once

#include <string>
#include <vector>

namespace pclscope::test {

inline std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

}  // namespace pclscope::test
