// The newest state of a run as OpenMetrics text (https://openmetrics.io, version 1.0), for node_exporter's textfile
// collector or anything else that reads it.
#pragma once

#include <string>

#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope::alarms {

// Whole, with "# EOF" at its end. `running`: the job goes on and its news come. Names and labels: docs/commands.md.
std::string metrics_text(const Snapshot& snapshot, bool running);

// Replaces the file in one step: a reader sees the old or the new one. Fails with io.
Status replace_file(const std::string& path, const std::string& text);

}  // namespace pclscope::alarms
