// How long ranks waited in each wait state (values/wait_state.hpp), by function, communicator and call site, and for
// whom most. Calls in, in any order; sums out. Point-to-point calls are not among them: their time is a call's, not a
// message's (call_waits.hpp).
//
// One thread owns a WaitStateSums. Memory: at most 4096 sums, each with 8 bytes per rank when anybody was waited for.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/values/wait_state_sum.hpp"

namespace pclscope {

class WaitStateSums {
 public:
  explicit WaitStateSums(std::int32_t ranks) : ranks_(ranks) {}

  void add(const CollectiveCall& call);
  // Most time first, at most 256.
  std::vector<WaitStateSum> list() const;

 private:
  using Key = std::tuple<WaitState, std::uint16_t, std::uint64_t, std::uint32_t>;
  struct Sum {
    WaitStateSum row;
    std::vector<double> awaited_s;  // by rank; empty: nobody
  };
  std::int32_t ranks_;
  std::map<Key, Sum> sums_;
};

}  // namespace pclscope
