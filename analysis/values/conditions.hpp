// Conditions of a run: what keeps ranks off their cores, whatever their messages do (docs/methods.md, "Off the core").
// Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pclscope {

enum class ConditionKind : std::uint8_t {
  more_ranks_than_cores = 0,  // ranks may use fewer cores than they are
  one_core = 1,               // the same, and it is one core: bound to it
  other_load = 2,             // processes that are not of the job use cores of ranks
  quota = 3,                  // a cgroup's quota of processor time
  own_threads = 4,            // a rank's own threads share its cores
};

// On one node. Costs are rank-seconds: time in which ranks were runnable, but did not run.
struct Condition {
  ConditionKind kind = ConditionKind::more_ranks_than_cores;
  std::int32_t node = -1;
  std::uint32_t ranks_met = 0;      // how many ranks it hits
  std::vector<std::int32_t> ranks;  // the first 64 of them, ascending
  std::int32_t core = -1;           // when it is one; else -1
  std::uint32_t cores = 0;          // that those ranks may use
  double begin_s = 0;               // begin of the first and end of the last time that it cost anything, since the time
  double end_s = 0;                 // origin
  bool open = false;                // it still does
  double active_s = 0;              // for so long together
  double cost_s = 0;                // outside MPI: computation was held up
  double in_mpi_s = 0;              // beside that, inside MPI: most of it would have been waiting all the same
  double quota_cores = 0;           // quota: so many cores
  double throttled_share = 0;       // quota: share of its periods in which it was used up
  double load = 0;                  // other_load: cores used by others, of those of the ranks, on average; own_threads:
                                    // by other threads of the ranks
  double process_load = 0;          // of that, by `process`
  std::uint32_t pid = 0;            // of it, the newest of that name; 0: it cannot be seen
  std::string process;              // name of the process that used most
  std::uint64_t key = 0;            // of its cores and cgroup, between aggregators; not stored
  bool operator==(const Condition&) const = default;
};

// What the scheduler did with a rank's main thread since its ring was found: running + off the core + asleep =
// observed.
struct CoreTimes {
  std::int64_t observed_ns = 0;
  std::int64_t running_ns = 0;
  std::int64_t off_core_ns = 0;       // runnable, but not running
  std::int64_t off_computing_ns = 0;  // of that, outside MPI, and between which two it is known to be
  std::int64_t off_computing_least_ns = 0, off_computing_most_ns = 0;
  double other_load = 0;  // share of the time of the cores that it may use, used by others than the job
  std::int64_t asleep_ns() const { return observed_ns - running_ns - off_core_ns; }
  bool operator==(const CoreTimes&) const = default;
};

}  // namespace pclscope
