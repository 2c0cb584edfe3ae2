// The newest single MPI calls of a running job: what a viewer asks for, and what it gets.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/mpi_call.hpp"

namespace pclscope {

struct CallsQuestion {
  static constexpr std::uint32_t usual = 100'000;  // calls in an answer
  std::int64_t from_ns = 0;                        // those that returned from then on, since the time origin
  std::uint32_t most = usual;                      // of them the newest
  std::vector<std::int32_t> ranks;                 // ascending; empty: all
};

// All calls that returned in [from_ns, until_ns), but for what is counted as left out. from_ns is later than what was
// asked for where older ones are not there (any more), or there are too many.
struct CallsPart {
  std::int64_t from_ns = 0, until_ns = 0;
  std::vector<MpiCall> calls;             // of each thread by time
  std::int64_t now_ns = 0;                // when it was looked who is inside which call
  std::vector<MpiCall> running;           // the calls that they are inside; end == now_ns. None of them is in `calls`
  std::uint64_t left_out = 0;             // since calls are kept: for lack of time or room, or beyond a traffic budget
  std::vector<std::int32_t> untold = {};  // ranks of whom nothing has come yet, ascending
  bool operator==(const CallsPart&) const = default;
};

}  // namespace pclscope
