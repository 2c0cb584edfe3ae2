// What a completed request leaves behind: called by every Wait and Test for each request that it completed.
#pragma once

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/kept_requests.hpp"

namespace pclscope {

// A receive of which everything is as usual. False: nothing was done.
PCLSCOPE_INLINE bool receive_recorded(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (done.peer == record::any_source || done.unrecorded || done.cancelled || done.untold || done.probed ||
      seems_cancelled(status)) [[unlikely]]
    return false;
  call.record_inline(EventKind::recv_done, done.comm_id, bytes_in(status), done.ordinal, done.peer,
                     tag_of(status.MPI_TAG), done.flags | flag::posted);
  return true;
}

// The event of a receive, collective, duplicated communicator or cancelled send; nothing for others. Releases what the
// request held.
void record_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status);

// The same for the entry of a request, which it then empties.
void end_request(CallScope call, TrackedRequest& entry, const MPI_Status& status);

// The same by a Waitall; `with_receives`: it completed receives, too.
void end_one_of_all(CallScope call, TrackedRequest& entry, const MPI_Status& status, bool with_receives);

// The same for a request whose operation failed with `error`.
void record_failed(CallScope& call, const TrackedRequest& done, const MPI_Status& status, int error);

// A call failed: did this request end? MPI has freed it, or it is a persistent one whose message was too long.
[[gnu::cold]] inline bool ended_by_error(MPI_Request now, int error) {
  return now == handles.request_null || took_message(error);
}

[[gnu::cold]] void fail_request(CallScope call, TrackedRequest& entry, const MPI_Status& status, int error);

// Waitall of few requests failed: `entries` are nullptr where nothing is known.
[[gnu::cold]] void fail_all(CallScope call, TrackedRequest* const* entries, int count, const MPI_Status* statuses,
                            int result);
// After Waitall or Testall: `result` is MPI_SUCCESS, or MPI_ERR_IN_STATUS and each status tells.
void record_all(CallScope& call, KeptRequests& before, int count, const MPI_Status* statuses, int result);
// After Waitany or Testany: one request, or none at all (MPI_UNDEFINED).
void record_any(CallScope& call, KeptRequests& before, int count, int index, const MPI_Request* requests,
                const MPI_Status& status, int result);
// After Waitsome or Testsome: statuses[k] belongs to requests[indices[k]].
void record_some(CallScope& call, KeptRequests& before, int count, int completed, const int* indices,
                 const MPI_Status* statuses, int result);

}  // namespace pclscope
