// From the words after `pclscope run` to everything that is needed to start: nothing has been started or created yet.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viewer/launch/launch_line.hpp"

namespace pclscope::commands {

struct RunPlan {
  launch::RunOptions options;
  launch::RunFacts facts;
  bool own_endpoint = false;   // the default one, which nobody else has
  bool root_is_here = true;    // the aggregator that publishes and stores runs on this node
  bool runs_here = true;       // some aggregator does
  std::string around;          // why the application cannot be recorded: it runs as without us; empty: it can
  std::string around_program;  // and which program that is
  bool quiet = false;
  bool print_only = false;
};

// Fills the plan, or returns the exit status after saying why not in one line.
std::optional<int> plan_run(const std::vector<std::string>& words, RunPlan& plan);

}  // namespace pclscope::commands
