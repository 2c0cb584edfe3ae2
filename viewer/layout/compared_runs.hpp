// Two runs, or two periods of a run, on the same logical steps, to be drawn one above the other (as Isaacs et al.
// compare two implementations). Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "viewer/session/logical_run.hpp"

namespace pclscope::layout {

struct PeriodNs {
  std::int64_t from = 0, to = 0;  // not included
  bool operator==(const PeriodNs&) const = default;
};

struct ComparedRequest {
  std::shared_ptr<const session::LogicalRun> first, second;  // the same run for two periods
  std::optional<PeriodNs> first_period, second_period;       // none: all of it
  bool operator==(const ComparedRequest&) const = default;
};

struct ComparedSide {
  std::shared_ptr<const session::LogicalRun> of;   // as it was read
  std::shared_ptr<const session::LogicalRun> run;  // its phases on the common steps, without sums
  std::vector<std::uint32_t> numbers;              // of these phases, in `of`
  std::vector<PeriodNs> times;                     // of these phases: first entry, last return
  std::int64_t begin_ns = 0;                       // the first entry of all
  std::vector<std::int64_t> over_ns;               // by step: its last return since begin_ns; -1: it has no events
};

struct ComparedRuns {
  ComparedRequest of;
  ComparedSide first, second;
  // Each phase begins at the same step on both sides: there are as many, of the same ranks. False: both begin at step
  // 0, and go on with their own steps.
  bool by_phase = false;
  std::uint32_t steps = 0;
};

// A period has the phases that begin in it; if none does, those that are going on.
ComparedRuns compare_runs(const ComparedRequest& request, const std::function<bool()>& stopping = {});

// By how much the second side is over later with a step than the first one, both since their own begin; none: not both
// have events there.
std::optional<double> behind_s(const ComparedRuns& runs, std::uint32_t step);

// Of the phases that have a step in [first, end): from the first entry to the last return of each side, and the phase
// whose own time differs most (only where phases are beside each other).
struct ComparedTimes {
  std::optional<double> first_s, second_s;
  std::optional<std::uint32_t> phase;  // of ComparedSide::run
  double phase_by_s = 0;               // second less first
};
ComparedTimes compared_times(const ComparedRuns& runs, double first_step, double end_step);

}  // namespace pclscope::layout
