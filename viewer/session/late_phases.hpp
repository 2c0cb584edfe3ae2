// Who is late in the phases of logical time (docs/methods.md), as lists for people: of a running job's newest messages,
// or of a dump. Plain values; a phase takes some hundred bytes, however many ranks it has.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/logical/sums.hpp"
#include "viewer/session/session.hpp"

namespace pclscope::session {

struct LatePhase {
  std::optional<std::uint32_t> number;  // as `inspect phases` counts; a running job's have none
  std::uint32_t first_step = 0, steps = 0;
  double begin_s = 0, end_s = 0;  // since the time origin
  std::string ranks;              // "0-7,12"
  std::size_t rank_count = 0;
  std::uint64_t messages = 0, collectives = 0;
  logical::LatenessSum lateness;  // of returns
  logical::LatenessSum entry;     // of entries: who came late
};

// In how many of the phases a rank is the most late one, and its lateness there.
struct LateRank {
  std::int32_t rank = -1;
  std::uint64_t phases = 0;
  double late_s = 0;
};

struct LatePhases {
  bool stored = false;
  double from_s = 0, to_s = 0;    // the period that was asked for; a dump's is the whole run
  std::uint64_t all = 0;          // phases; `phases` has the newest and those with most lateness
  std::vector<LatePhase> phases;  // in the order in which they begin
  // Of all phases: by returns and by entries, most lateness first.
  std::vector<LateRank> late, came_late;
  double late_s = 0, came_late_s = 0;  // of all ranks
};

// Of the newest `length_s` before `now_s`, asked from a running job.
Result<LatePhases> newest_late_phases(Session& session, const Snapshot& snapshot, double now_s, double length_s);

// Of a dump: reads it once, in pieces. `progress` gets the share that was read and returns false to stop (then the
// answer is of what was read).
Result<LatePhases> stored_late_phases(Session& session, const Snapshot& snapshot,
                                      const std::function<bool(double)>& progress,
                                      std::uint64_t messages_at_once = 400'000);

}  // namespace pclscope::session
