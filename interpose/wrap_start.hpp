// Persistent requests: made, started, freed; and MPI_Cancel.
#pragma once

#include "interpose/call_scope.hpp"

namespace pclscope {

inline void track_persistent(CallScope& call, Communicator& c, MPI_Request request, RequestKind kind,
                             std::uint64_t bytes, std::int32_t peer, int tag, std::uint32_t mode) {
  track_request(call, request,
                {.key = 0, .comm = &c, .ordinal = 0, .begin = 0, .bytes = bytes, .site = 0, .peer = peer,
                 .tag = tag_of(tag), .function = call.function, .kind = kind, .active = false, .cancelled = false,
                 .flags = mode | flag::persistent | c.flags});
}

template <Function F, std::uint32_t Mode, class Real, class Count>
int wrap_send_init(Site site, Real real_init, const void* buffer, Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_init(buffer, count, type, dest, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(*r, F, site, c.id, peer, tag);
  const int result = real_init(buffer, count, type, dest, tag, comm, request);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::uint64_t bytes = r->bytes(count, type);
  track_persistent(call, c, *request, RequestKind::persistent_send, bytes, peer, tag, Mode);
  call.record(EventKind::call, c.id, bytes, 0, peer, tag, flag::persistent | c.flags);
  return result;
}

template <Function F, class Real, class Count>
int wrap_recv_init(Site site, Real real_init, void* buffer, Count count, MPI_Datatype type, int source, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_init(buffer, count, type, source, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, site, c.id, peer, tag_of(tag));
  const int result = real_init(buffer, count, type, source, tag, comm, request);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  track_persistent(call, c, *request, RequestKind::persistent_receive, 0, peer, tag, 0);
  call.record(EventKind::call, c.id, r->bytes(count, type), 0, peer, tag_of(tag), flag::persistent | c.flags);
  return result;
}

// The event of a request that start() made active and MPI accepted.
inline void record_started(CallScope& call, MPI_Request request, const TrackedRequest& s) {
  if (s.kind == RequestKind::persistent_receive) {
    call.record(EventKind::recv_post, s.comm->id, 0, s.ordinal, s.peer, s.tag, s.flags);
    return;
  }
  const std::uint64_t ordinal = next_send();
  number_started_send(request, ordinal);
  call.record(EventKind::send, s.comm->id, s.bytes, ordinal, s.peer, s.tag, s.flags);
}

inline void record_not_started(CallScope& call, MPI_Request request, const TrackedRequest& s) {
  stop(request);
  if (s.kind == RequestKind::persistent_receive)
    call.record(EventKind::recv_cancelled, s.comm->id, 0, s.ordinal, s.peer, s.tag, s.flags | flag::failed);
}

template <Function F, class Real>
int wrap_start(Site site, Real real_start, MPI_Request* request) {
  Recorder* r = recorder();
  if (r == nullptr) return real_start(request);
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  TrackedRequest started;
  const bool tracked = start(*request, started);
  const int result = real_start(request);
  call.returned();
  if (!tracked) return result;
  if (result == MPI_SUCCESS) {
    record_started(call, *request, started);
  } else {
    record_not_started(call, *request, started);
  }
  return result;
}

// Two passes: receives are numbered before they are posted, events are written when MPI has accepted them.
template <Function F, class Real>
int wrap_startall(Site site, Real real_startall, int count, MPI_Request* requests) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) return real_startall(count, requests);
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  TrackedRequest started;
  for (int i = 0; i < count; ++i) start(requests[i], started);
  const int result = real_startall(count, requests);
  call.returned();
  for (int i = 0; i < count; ++i) {
    if (!look_at_started(requests[i], started)) continue;
    if (result == MPI_SUCCESS) {
      record_started(call, requests[i], started);
    } else {
      record_not_started(call, requests[i], started);
    }
  }
  return result;
}

template <Function F, class Real>
int wrap_request_free(Site site, Real real_free, MPI_Request* request) {
  Recorder* r = recorder();
  if (r == nullptr) return real_free(request);
  const MPI_Request freed = *request;
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_free(request);
  call.returned();
  TrackedRequest which;
  if (result != MPI_SUCCESS || !forget(freed, which)) return result;
  const bool receive = which.kind == RequestKind::receive || which.kind == RequestKind::persistent_receive;
  if (receive && which.active)
    call.record(EventKind::recv_freed, which.comm->id, 0, which.ordinal, which.peer, which.tag, which.flags);
  release(which.comm);
  return result;
}

template <Function F, class Real>
int wrap_cancel(Site site, Real real_cancel, MPI_Request* request) {
  Recorder* r = recorder();
  if (r == nullptr) return real_cancel(request);
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  // Written before the message can vanish: a later one of its channel may be received as soon as it has. Should MPI
  // refuse, the completion says so as for any cancel that came too late.
  TrackedRequest which;
  if (cancel(*request, which) && (which.kind == RequestKind::send || which.kind == RequestKind::persistent_send))
    r->write(EventKind::send_cancel_request, F, call.begin, call.begin, site, which.comm->id, which.bytes,
             which.ordinal, which.peer, which.tag, which.flags);
  const int result = real_cancel(request);
  call.returned();
  return result;
}

}  // namespace pclscope
