// One rank's part in a collective operation that all members have completed; and, in the same form, every other call
// of which entry times tell that it waited for a rank: one-sided synchronisation, files, MPI_Init and MPI_Finalize, and
// calls that waited for the other side of a message without being its send or receive.
#pragma once

#include <algorithm>
#include <cstdint>

namespace pclscope {

// Whom a wait can be proven for from entry times alone.
enum class CollectiveShape : std::uint8_t {
  all_to_all = 0,  // nobody leaves before everybody has come: Barrier, Allreduce, Alltoall, Allgather, Win_fence ...
  from_root = 1,   // Bcast, Scatter: members wait for the root
  to_root = 2,     // Reduce, Gather: the root waits for all
  prefix = 3,      // Scan, Exscan: a rank waits for lower ranks
  unknown = 4,     // no wait is computed
  neighbours = 5,  // neighbourhood collectives: a rank waits for those it receives from
  post = 6,        // Win_start, Win_complete: for the targets' Win_post
  complete = 7,    // Win_wait: for the origins' Win_complete
  lock = 8,        // Win_lock ...: for the Win_unlock of another one who held the lock
  send = 9,        // a Wait ... that completed a send: for its receive
  probe = 10,      // a Probe: for the send of the message that it found
};
inline constexpr CollectiveShape last_shape = CollectiveShape::probe;

// Times are nanoseconds since the job's time origin.
struct CollectiveCall {
  std::uint64_t comm = 0;      // communicator; of windows and files: theirs
  std::uint64_t ordinal = 0;   // of the operation on its communicator, window or file; of a probe: 1 if of any source
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
  std::int64_t completing = 0;     // nonblocking: how long the call took that completed it, before `end`; 0 unknown

  // From when on the rank could do nothing but wait: entry of the call, of a nonblocking one of the call that completed
  // it (its return, when that is not known: no wait is claimed).
  std::int64_t wait_begin() const { return nonblocking ? std::max(begin, end - completing) : begin; }
  // How long the rank waited for the last arrival.
  std::int64_t wait() const {
    const std::int64_t from = wait_begin();
    return awaited < 0 || awaited_begin <= from ? 0 : std::max(from, std::min(awaited_begin, end)) - from;
  }
  bool operator==(const CollectiveCall&) const = default;
};

}  // namespace pclscope
