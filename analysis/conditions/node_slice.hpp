// What was seen on one node in a slice of time, as the conditions are worked out from it (condition_list.hpp). Plain
// values; seconds unless said.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/conditions/proc_tree.hpp"

namespace pclscope::conditions {

struct RankSlice {
  std::int32_t rank = 0;       // -1: another aggregator's, which charges what it lost
  std::size_t cores = 0;       // index into NodeSlice::sets: where it may run
  double observed_s = 0;       // of the slice
  double running_s = 0;        // its main thread
  double off_core_s = 0;       // the same: runnable, but not running
  double off_computing_s = 0;  // of that, outside MPI
  double process_s = 0;        // processor time of all its threads
  std::uint32_t threads = 1;
  std::int32_t quota = -1;  // index into NodeSlice::quotas; -1: none
};
struct ProcessLoad {  // not of the job
  std::uint32_t pid = 0;
  std::string name;
  std::int32_t core = -1;  // where it last ran
  double cores = 0;        // processor time per time
};
struct NodeSlice {
  double begin_s = 0, end_s = 0;
  std::vector<RankSlice> ranks;                 // each rank once
  std::vector<std::vector<std::int32_t>> sets;  // of cores, ascending, each once
  std::vector<double> busy_s;                   // by core; empty: not known
  std::vector<ProcessLoad> processes;           // empty: not looked for, or not to be seen
  std::vector<Quota> quotas;                    // periods and throttled: of the slice alone

  double length_s() const { return end_s - begin_s; }
};

}  // namespace pclscope::conditions
