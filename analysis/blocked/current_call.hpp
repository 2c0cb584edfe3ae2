// What a recording thread is inside now: the current-call slot of its segment, read while the thread goes on.
#pragma once

#include <cstdint>
#include <vector>

#include "interpose/record/segment.hpp"

namespace pclscope::blocked {

struct CurrentCall {
  std::uint32_t thread = 0;    // set by whoever reads it
  std::uint16_t function = 0;  // 0: outside MPI; the rest means nothing then
  std::uint64_t since = 0;     // ticks at entry
  std::uint64_t site = 0;      // return address
  std::uint64_t comm = 0;
  std::int32_t peer = -1;
  std::int32_t tag = -1;
  std::uint32_t awaited_count = 0;          // Wait*, Sendrecv, Win_start, Win_lock only
  std::vector<std::uint64_t> awaited;       // the first awaited_limit of them
  std::vector<std::uint64_t> awaited_comm;  // as many: of collectives
};

// How many collectives a thread's process had posted after its newest nonblocking one.
struct Posted {
  bool known = false;       // else it may have posted some that left no event
  std::uint64_t count = 0;  // 0: none
};
Posted posted_on(const record::SegmentHeader& header, std::uint64_t comm);

// The slot is six independent stores. They are read until function and entry are the same before and after: no two
// calls of a thread begin in the same tick. A thread that moves on all the time is caught outside MPI.
void read_current_call(const record::SegmentHeader& header, CurrentCall& call);

}  // namespace pclscope::blocked
