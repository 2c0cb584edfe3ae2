// The options of the analysis, which `pclscope run` and `pclscope attach` share.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "viewer/launch/launch_line.hpp"

namespace pclscope::commands {

struct AnalysisWords {
  std::string window = "100ms";
  std::string budget;
  std::string endpoint;  // --publish; empty = default
};

// Both must outlive the parsing.
void add_analysis_options(CLI::App& app, launch::RunOptions& options, AnalysisWords& words);

// After parsing: fills in what needs more than a word. Returns the exit status of a usage error.
std::optional<int> finish_analysis_options(const CLI::App& app, const AnalysisWords& words,
                                           launch::RunOptions& options);

// "--launcher-args" as given, each a line of a shell.
std::optional<int> split_launcher_args(const std::vector<std::string>& lines, launch::RunOptions& options);

// Makes the path absolute (the aggregator may run elsewhere) and tries whether a file can be made there.
std::optional<int> check_dump(std::string& dump);
// An earlier run's criteria are asked for: better to fail here than hours into the job.
std::optional<int> check_baseline(std::string& baseline);

}  // namespace pclscope::commands
