// pclscope on another node does what is to be done there: list what was only preloaded, attach, detach.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::reach {

struct Done {
  int status = 0;  // pclscope's there
  std::string output, errors;
};

// `pclscope WORDS` on a node that shares this home, by ssh, with the same shared directory; in our working directory,
// if it is to be told of files. Fails with unreachable: no such host, no way in, no answer in time, no pclscope there.
Result<Done> run_there(const std::string& host, const std::vector<std::string>& words, bool files,
                       std::chrono::milliseconds patience);
// The same on several, side by side; in the order of `hosts`.
std::vector<Result<Done>> run_on_all(const std::vector<std::string>& hosts, const std::vector<std::string>& words,
                                     std::chrono::milliseconds patience);

}  // namespace pclscope::reach
