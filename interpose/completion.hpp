// What a completed request leaves behind: called by every Wait and Test for each request that it completed.
#pragma once

#include "interpose/call_scope.hpp"

namespace pclscope {

// `request` is the handle as it was before the call. Writes the event of a tracked receive, collective, duplicated
// communicator or cancelled send; nothing for others.
void record_completed(CallScope& call, MPI_Request request, const MPI_Status& status);

// The same for a request whose operation failed with `error`.
void record_failed(CallScope& call, MPI_Request request, const MPI_Status& status, int error);

}  // namespace pclscope
