// One rank's part in a collective operation that all members have completed.
#pragma once

#include <cstdint>

namespace pclscope {

// How ranks wait for each other in a collective: for whom a wait can be proven from entry times alone.
enum class CollectiveShape : std::uint8_t {
  all_to_all = 0,  // nobody leaves before everybody has come: Barrier, Allreduce, Alltoall, Allgather, Comm_split ...
  from_root = 1,   // Bcast, Scatter: members wait for the root
  to_root = 2,     // Reduce, Gather: the root waits for all
  prefix = 3,      // Scan, Exscan: a rank waits for lower ranks
  unknown = 4,     // neighbourhood collectives and the like: no wait is computed
};

// Times are nanoseconds since the job's time origin.
struct CollectiveCall {
  std::uint64_t comm = 0;
  std::uint64_t ordinal = 0;   // of the operation on its communicator
  std::int32_t rank = 0;       // world rank
  std::int32_t awaited = -1;   // the last of those whom this rank had to wait for; -1: it waited for nobody
  std::uint16_t function = 0;  // functions.def
  CollectiveShape shape = CollectiveShape::unknown;
  bool nonblocking = false;  // begin: entry of the call that posted it; end: return of the one that completed it
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t awaited_begin = 0;  // when `awaited` came; begin when there is none
  std::uint64_t bytes = 0;         // this rank's contribution
  std::uint64_t site = 0;          // id in the store's /sites, 0 unknown; from the matcher: site_key.hpp

  // How long the rank waited for the last arrival. A nonblocking one overlaps with computation: no wait is claimed.
  std::int64_t wait() const {
    if (nonblocking || awaited < 0 || awaited_begin <= begin) return 0;
    return (awaited_begin < end ? awaited_begin : end) - begin;
  }
  bool operator==(const CollectiveCall&) const = default;
};

}  // namespace pclscope
