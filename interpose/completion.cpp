#include "interpose/completion.hpp"

namespace pclscope {

namespace {

bool was_cancelled(const TrackedRequest& done, const MPI_Status& status) {
  int cancelled = 0;
  return done.cancelled && real.Test_cancelled(&status, &cancelled) == MPI_SUCCESS && cancelled != 0;
}

void write(CallScope& call, EventKind kind, const TrackedRequest& done) {
  call.record(kind, done.comm->id, 0, done.ordinal, done.peer, done.tag, done.flags);
}

void receive_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (was_cancelled(done, status)) {
    write(call, EventKind::recv_cancelled, done);
    return;
  }
  const Communicator& c = *done.comm;
  call.record(EventKind::recv_done, c.id, bytes_in(status), done.ordinal, c.peer(status.MPI_SOURCE),
              tag_of(status.MPI_TAG), done.flags | flag::posted);
}

void send_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (!done.cancelled) return;
  write(call, was_cancelled(done, status) ? EventKind::send_cancelled : EventKind::send_not_cancelled, done);
}

// Nonblocking: from the call that posted it to the return of the one that completed it.
void collective_completed(CallScope& call, const TrackedRequest& done) {
  call.recorder.write(EventKind::collective, done.function, done.begin, call.end, done.site, done.comm->id, done.bytes,
                      done.ordinal, done.peer, record::any_tag, done.flags);
}

void duplicate_completed(CallScope& call, const TrackedRequest& done) {
  const MPI_Comm made = *reinterpret_cast<const MPI_Comm*>(done.bytes);
  const Communicator& c = register_communicator(made, done.comm, Origin::dup, done.ordinal);
  call.recorder.write(EventKind::comm_created, done.function, done.begin, call.end, done.site, c.id,
                      done.comm->local_count + ((done.flags & flag::intercomm) != 0 ? done.comm->peer_count : 0),
                      done.comm->id, 0, record::any_tag, done.flags);
}

}  // namespace

void record_completed(CallScope& call, MPI_Request request, const MPI_Status& status) {
  TrackedRequest done;
  if (request == handles.request_null || !complete(request, done)) return;
  switch (done.kind) {
    case RequestKind::receive:
    case RequestKind::persistent_receive: receive_completed(call, done, status); break;
    case RequestKind::send:
    case RequestKind::persistent_send: send_completed(call, done, status); break;
    case RequestKind::collective: collective_completed(call, done); break;
    case RequestKind::comm_dup: duplicate_completed(call, done); break;
    case RequestKind::none: return;
  }
  finished(done);
}

void record_failed(CallScope& call, MPI_Request request, const MPI_Status& status, int error) {
  TrackedRequest done;
  if (request == handles.request_null || !complete(request, done)) return;
  const bool receive = done.kind == RequestKind::receive || done.kind == RequestKind::persistent_receive;
  if (receive) {
    done.flags |= failure_flags(error);
    if (took_message(error)) {
      receive_completed(call, done, status);
    } else {  // whether it took a message, nobody knows
      done.flags &= ~flag::truncated;
      write(call, EventKind::recv_freed, done);
    }
  }
  finished(done);
}

}  // namespace pclscope
