// What became of the application's requests and matched messages: from the call that posted them to the call that
// completes them. Handles alone name nothing: MPI reuses them, and gives one shared handle to operations that were
// complete at once (Open MPI to small sends and to anything with MPI_PROC_NULL). Such operations are recorded as
// complete when posted and never tracked; is_shared_request() knows those handles by experiment.
#pragma once

#include <cstdint>

#include "interpose/communicators.hpp"
#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {

enum class RequestKind : std::uint8_t {
  none,
  send,             // tracked only so that MPI_Cancel can name it
  receive,
  persistent_send,  // stay in the table until freed
  persistent_receive,
  collective,
  comm_dup,         // `bytes` is the address of the application's MPI_Comm variable
};

struct TrackedRequest {
  std::uint64_t key;      // of the MPI_Request or MPI_Message
  Communicator* comm;     // held
  std::uint64_t ordinal;  // of the send, receive or collective; comm_dup: the reserved id
  std::uint64_t begin;    // collectives and comm_dup: entry of the posting call
  std::uint64_t bytes;
  std::uint64_t site;
  std::int32_t peer;      // as posted
  std::int32_t tag;
  record::Function function;
  RequestKind kind;
  bool active : 1;        // persistent: started and not complete
  bool cancelled : 1;     // MPI_Cancel was called
  std::uint32_t flags;    // of its events
};
static_assert(sizeof(TrackedRequest) == 64);  // one line of cache

// Learns the handles this MPI shares among complete requests. At MPI_Init, with MPI_COMM_SELF.
void learn_shared_requests();
bool is_shared_request(MPI_Request request);

// Remembers a request; holds its communicator. When the handle still named a receive, that one completed unseen:
// it is returned in `lost` (still held) with true. Without memory the request stays unknown.
bool track(MPI_Request request, const TrackedRequest& what, TrackedRequest& lost);

// Where a request is waited for, without changing anything. False when it is not tracked.
struct Awaited {
  std::uint64_t comm;
  std::int32_t peer;
  std::int32_t tag;
};
bool look_at(MPI_Request request, Awaited& awaited);

// The request completed: true and a copy, if it is tracked (and, if persistent, active). One that is not persistent is
// forgotten; the caller then releases the communicator (finished()).
bool complete(MPI_Request request, TrackedRequest& done);
// MPI_Cancel was called on it.
bool cancel(MPI_Request request, TrackedRequest& which);
// MPI_Start: a persistent request becomes active, a receive with a fresh ordinal (it is posted by the call to come).
bool start(MPI_Request request, TrackedRequest& started);
// A copy of a request that is started and not complete.
bool look_at_started(MPI_Request request, TrackedRequest& started);
// A send is numbered when it was made.
void number_started_send(MPI_Request request, std::uint64_t ordinal);
// MPI_Start failed after all.
void stop(MPI_Request request);
// MPI_Request_free: always forgets it; the caller releases the communicator.
bool forget(MPI_Request request, TrackedRequest& which);

// Releases what a request held, unless it stays in the table.
inline void finished(const TrackedRequest& request) {
  if (request.kind != RequestKind::persistent_send && request.kind != RequestKind::persistent_receive)
    release(request.comm);
}

// Matched probes: the message until MPI_Mrecv or MPI_Imrecv takes it.
void track_message(MPI_Message message, const TrackedRequest& what);
bool take_message(MPI_Message message, TrackedRequest& what);

}  // namespace pclscope
