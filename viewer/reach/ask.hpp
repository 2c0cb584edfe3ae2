// pclscope on another node does what is to be done there: list what was only preloaded, attach, detach.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/values/result.hpp"

namespace pclscope::reach {

struct Done {
  int status = 0;              // pclscope's there
  std::string output, errors;  // pclscope's alone: what login shells print before it starts is left out
};

// `pclscope WORDS` on a node that shares this home, by ssh, with the same shared directory; in our working directory,
// if it is to be told of files. Fails with unreachable: no such host, no way in, no answer in time, no pclscope there.
Result<Done> run_there(const std::string& host, const std::vector<std::string>& words, bool files,
                       std::chrono::milliseconds patience);

// As run_there() gives it; nothing where the time was over before it was asked, or before it answered.
using Answer = std::optional<Result<Done>>;
// Called with the place of a host in `hosts` and its answer, by one thread at a time. True: that is enough.
using Enough = std::function<bool(std::size_t, const Answer&)>;
struct Patience {
  std::chrono::milliseconds all{6000};    // with all of them together
  std::chrono::milliseconds grace{1000};  // with the others once there is enough: two may answer at much the same time
};
// The same on several nodes, 32 side by side, the first of `hosts` first; in the order of `hosts`.
std::vector<Answer> run_on_all(const std::vector<std::string>& hosts, const std::vector<std::string>& words,
                               const Patience& patience, const Enough& enough = {});

}  // namespace pclscope::reach
