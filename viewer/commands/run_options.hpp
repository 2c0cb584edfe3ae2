// The command line of `pclscope run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/launch/launch_line.hpp"

namespace pclscope::commands {

struct RunWords {
  launch::RunOptions options;  // dump as given, not yet absolute
  std::string endpoint;        // --publish; empty = default
  std::string hosts;           // --hosts; empty = not given
  std::string rankfile;        // --rankfile; empty = not given
  std::string mpi = "auto";
  std::string launcher;  // --launcher; empty = find one
  bool quiet = false;
  bool print_only = false;
};

// Fills `run`, or returns the exit status after help (0) or a usage error (2).
std::optional<int> parse_run(std::vector<std::string> words, RunWords& run);

}  // namespace pclscope::commands
