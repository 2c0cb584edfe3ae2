// What phases and steps come to: for tables. Functions of a LogicalTime alone.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/logical/logical_time.hpp"

namespace pclscope::logical {

// A sum of lateness, and whose is the most.
struct LatenessSum {
  double sum_ns = 0;         // over events: damaged times would overflow integers
  std::int64_t most_ns = 0;  // of one event
  std::int32_t rank = -1;    // of phases: with the largest sum; of steps: with the largest event. -1: nobody is late
  double rank_ns = 0;        // that sum
  std::int64_t rank_most_ns = 0;  // of the rank's latest event
  // Of the rank's first event that is at least half as late as its latest.
  std::uint32_t site = 0;
  Kind kind = Kind::send;
};

struct PhaseSum {
  std::vector<std::int32_t> ranks;  // ascending
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;
  std::uint64_t collectives = 0;  // operations
  std::uint64_t unpaired = 0;     // events: sends without a known receive, receives that contradict their sends
  LatenessSum lateness;           // of returns
  LatenessSum entry;              // of entries
};

struct StepSum {
  std::uint32_t step = 0;
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t sends = 0, receives = 0, collectives = 0;  // events
  LatenessSum lateness, entry;
};

PhaseSum sum_of(const LogicalTime& time, const Phase& phase);
// Of each phase those that some of its ranks come from, ascending.
std::vector<std::vector<std::uint32_t>> phases_before(const LogicalTime& time);
// Of all its steps; with `ranks` (ascending) only their events, lateness compared with all. Steps without any are left
// out.
std::vector<StepSum> steps_of(const LogicalTime& time, const Phase& phase, std::span<const std::int32_t> ranks = {});

}  // namespace pclscope::logical
