// From slices to conditions (docs/methods.md, "Off the core"): whose fault it is that ranks were runnable, but not
// running. Pure: no clock, no files. One thread owns a ConditionList. Memory: at most 256 conditions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/conditions/node_slice.hpp"
#include "analysis/values/conditions.hpp"

namespace pclscope::conditions {

// Of the cores of a set, how many were used by others than the ranks' processes. 0 when it is not known.
double other_cores(const NodeSlice& slice, std::size_t set);

// Sets of ranks (indices into slice.ranks) that are more than the cores that they may use.
struct Crowd {
  std::vector<std::size_t> ranks;
  std::vector<std::int32_t> cores;
};
std::vector<Crowd> crowds(const NodeSlice& slice);

class ConditionList {
 public:
  void add(const NodeSlice& slice);
  // Those worth naming, most cost first; `node` is left -1. `over`: no slice follows; what lasted half of a short time
  // counts as well.
  std::vector<Condition> list(bool over = true) const;

 private:
  using Key = std::tuple<ConditionKind, std::vector<std::int32_t>, std::string>;  // kind, cores, cgroup or "rest"
  struct Process {
    double used_s = 0;
    std::uint32_t pid = 0;
  };
  struct Entry {
    Condition sums;
    std::set<std::int32_t> ranks;
    double all_cost_s = 0;  // of all ranks of the node, those of other aggregators, too
    double observed_s = 0, load_s = 0, processes_known_s = 0;
    std::map<std::string, Process> processes;  // by name
    double periods = 0, throttled = 0;
  };
  struct Left;  // of a slice's time off the core, what is not explained yet
  struct Taken {
    double cost_s = 0, in_mpi_s = 0;  // from ranks here
    double all_s = 0;                 // from all of the node
  };
  Entry* charge(Key key, const NodeSlice& slice, const std::vector<std::size_t>& ranks, const Taken& taken);
  void add_quotas(const NodeSlice& slice, Left& left);
  void add_loads(const NodeSlice& slice, Left& left);
  void add_threads(const NodeSlice& slice, const std::vector<Crowd>& crowded, Left& left);
  void add_crowds(const NodeSlice& slice, const std::vector<Crowd>& crowded, Left& left);
  void add_rest(const NodeSlice& slice, Left& left);

  std::map<Key, Entry> entries_;
  double observed_s_ = 0;  // length of all slices
  double until_s_ = 0;
};

}  // namespace pclscope::conditions
