// What `pclscope run` says when a job is over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope::views {

struct Closing {
  std::string job;
  std::string dump;          // empty: none was asked for
  bool dump_exists = false;  // and can be read
  bool closed = true;        // by the aggregator, in order
  bool aggregator_ran = true;
  bool dump_whole = true;         // the dump was closed, too: else it ends where storing stopped
  bool why_nothing_said = false;  // nothing was recorded, and the aggregator has said so, and why
  bool detached = false;          // the record is over, the job goes on
};

// At most ten lines: the sentences about the run, then seven. `summary` is empty when nothing is known. Of a run of
// which nothing was recorded only that, unless it has been said.
std::vector<std::string> closing_lines(const Closing& closing, const std::optional<Snapshot>& summary);

}  // namespace pclscope::views
