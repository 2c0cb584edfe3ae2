// What a completed request leaves behind: called by every Wait and Test for each request that it completed.
#pragma once

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/kept_requests.hpp"

namespace pclscope {

// The event of a receive, collective, duplicated communicator or cancelled send; nothing for others. Releases what the
// request held.
void record_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status);

// The same for the entry of a request, which it then empties.
void end_request(CallScope call, TrackedRequest& entry, const MPI_Status& status);

// The same for a request whose operation failed with `error`.
void record_failed(CallScope& call, const TrackedRequest& done, const MPI_Status& status, int error);

// A call failed: did this request end? MPI has freed it, or it is a persistent one whose message was too long.
[[gnu::cold]] inline bool ended_by_error(MPI_Request now, int error) {
  return now == handles.request_null || took_message(error);
}

[[gnu::cold]] void fail_request(CallScope call, TrackedRequest& entry, const MPI_Status& status, int error);

// After Waitall or Testall: `result` is MPI_SUCCESS, or MPI_ERR_IN_STATUS and each status tells.
void record_all(CallScope& call, KeptRequests& before, int count, const MPI_Status* statuses, int result);
// After Waitany or Testany: one request, or none at all (MPI_UNDEFINED).
void record_any(CallScope& call, KeptRequests& before, int count, int index, const MPI_Request* requests,
                const MPI_Status& status, int result);
// After Waitsome or Testsome: statuses[k] belongs to requests[indices[k]].
void record_some(CallScope& call, KeptRequests& before, int count, int completed, const int* indices,
                 const MPI_Status* statuses, int result);

}  // namespace pclscope
