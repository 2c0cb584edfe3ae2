// The rows of a slice as the events of an archive: of each location (a thread of a rank) in order of time. Knows
// nothing of libotf2.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/values/wait_state.hpp"
#include "viewer/export/otf2_contents.hpp"
#include "viewer/export/stored_rows.hpp"

namespace pclscope::exporting {

enum class TraceKind : std::uint8_t {
  enter,  // function, site
  send,   // blocking: comm, peer, tag, bytes
  isend,  // the same, and request
  irecv_request,
  metric,          // state, and what has been waited in it so far (bytes, ns)
  isend_complete,  // request
  recv,            // blocking: as send
  irecv,           // as isend
  put,             // comm, peer, bytes
  get,
  accumulate,
  fetch_and_add,
  compare_and_swap,
  collective_begin,
  collective_request,   // request
  collective_end,       // function, comm, peer (the root, or nobody), bytes
  collective_complete,  // and request
  leave,                // function
};

struct TraceEvent {
  std::int64_t time = 0;
  std::uint64_t comm = 0, bytes = 0, request = 0, site = 0;
  std::int32_t peer = -1;  // world rank
  std::int32_t tag = 0;
  TraceKind kind = TraceKind::enter;
  WaitState state = WaitState::none;
  std::uint16_t function = 0;
  bool first_come = false;  // received by a blocking receive from any source
};

// Keeps what was waited so far, so slices come in order.
class TraceEvents {
 public:
  explicit TraceEvents(const Otf2Contents& contents);
  // By location; valid until the next call.
  const std::vector<std::vector<TraceEvent>>& of(const Slice& slice, const Choice& choice);

 private:
  struct Placed {  // where in the sequence of its location's calls
    std::uint32_t slot = 0;
    TraceEvent event;
  };
  struct Thread {  // its calls in the slice
    std::size_t begin = 0, end = 0, location = 0;
  };
  void find_threads(const Slice& slice);
  // Puts it beside the rank's call that `is_it`, which begins (`at_end`: ends) then; else where it falls.
  template <class IsIt>
  const MpiCall* put(const Slice& slice, std::int32_t rank, bool at_end, const TraceEvent& event, IsIt&& is_it);
  void put_calls(const Slice& slice);
  void put_messages(const Slice& slice, const Choice& choice);
  void put_collectives(const Slice& slice);
  void put_completed_sends(const Slice& slice);
  void put_waits(const Slice& slice, const Choice& choice);

  const Otf2Contents& contents_;
  std::vector<std::vector<Thread>> threads_;  // by rank
  std::vector<std::vector<Placed>> placed_;   // by location
  std::vector<std::vector<TraceEvent>> events_;
  std::vector<std::array<std::int64_t, wait_states>> waited_;  // by rank
  // Sends that a call completed which waited for their receives, until a slice holds its end.
  struct CompletedSend {
    std::int32_t rank = 0;
    std::int64_t begin = 0, end = 0;  // of the call
    std::uint64_t request = 0;
  };
  std::vector<CompletedSend> completed_;
};

}  // namespace pclscope::exporting
