// pclscope inspect FILE calls: where in the source time was lost, in which MPI functions, and who hung in the end.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::commands {

struct CallsQuestion {
  Format format = Format::text;
  std::optional<std::uint64_t> limit;  // call sites; as text 20 without it
  std::vector<std::int32_t> ranks;     // ascending; empty = all
};

// The exit status.
int print_calls(const CallsQuestion& question, session::Session& session, const Snapshot& snapshot);

}  // namespace pclscope::commands
