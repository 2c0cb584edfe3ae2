// How long ranks waited in one wait state, of one function, communicator and call site; part of a Snapshot.
#pragma once

#include <cstdint>

#include "analysis/values/wait_state.hpp"

namespace pclscope {

struct WaitStateSum {
  WaitState state = WaitState::none;
  std::uint16_t function = 0;
  std::uint64_t comm = 0;          // id; of windows and files: theirs; 0: of several
  std::uint32_t site = 0;          // of the calls that waited; id in Snapshot::sites, 0 not known, or several
  std::uint64_t waits = 0;         // calls that waited
  double wait_s = 0;               // rank-seconds
  double worst_s = 0;              // the longest of them
  std::int32_t awaited_rank = -1;  // for whom ranks waited longest in sum
  double awaited_s = 0;            // and how long
  bool operator==(const WaitStateSum&) const = default;
};

}  // namespace pclscope
