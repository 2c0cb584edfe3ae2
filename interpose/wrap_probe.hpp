// Probes, and the receives of messages that a matched probe took.
#pragma once

#include "interpose/wrap_p2p.hpp"

namespace pclscope {

// Probe and Iprobe only look: a `call` event that says what lies there.
PCLSCOPE_INLINE void record_probed(CallScope& call, const Communicator& c, const MPI_Status& status) {
  call.record(EventKind::call, c.id, bytes_in(status), 0, c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), c.flags);
}

template <Function F, class Real>
int wrap_probe(Site site, Real real_probe, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, status);
  call.returned();
  if (result == MPI_SUCCESS) record_probed(call, c, *status);
  return result;
}

template <Function F, class Real>
int wrap_iprobe(Site site, Real real_probe, int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, found, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, found, status);
  call.returned();
  if (result == MPI_SUCCESS && *found != 0) record_probed(call, c, *status);
  return result;
}

// A matched probe takes the message out of the queue: that is the moment of matching. With MPI_PROC_NULL there is
// no message; every such handle is the same, so it is not tracked.
inline void record_matched(CallScope& call, Communicator& c, MPI_Message message, const MPI_Status& status) {
  if (message == handles.message_no_proc) {
    record_probed(call, c, status);
    return;
  }
  const std::uint64_t ordinal = next_receive();
  const std::int32_t peer = c.peer(status.MPI_SOURCE);
  const std::uint32_t flags = flag::matched_probe | c.flags;
  call.record(EventKind::recv_post, c.id, bytes_in(status), ordinal, peer, status.MPI_TAG, flags);
  track_message(message, {.key = 0, .comm = &c, .ordinal = ordinal, .begin = 0, .bytes = 0, .site = 0, .peer = peer,
                          .tag = status.MPI_TAG, .function = call.function, .kind = RequestKind::receive,
                          .active = true, .cancelled = false, .flags = flags});
}

template <Function F, class Real>
int wrap_mprobe(Site site, Real real_probe, int source, int tag, MPI_Comm comm, MPI_Message* message,
                MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, message, status);
  call.returned();
  if (result == MPI_SUCCESS) record_matched(call, c, *message, *status);
  return result;
}

template <Function F, class Real>
int wrap_improbe(Site site, Real real_probe, int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                 MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, found, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, found, message, status);
  call.returned();
  if (result == MPI_SUCCESS && *found != 0) record_matched(call, c, *message, *status);
  return result;
}

template <Function F, class Real, class Count>
int wrap_mrecv(Site site, Real real_recv, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
               MPI_Status* status) {
  Recorder* r = recorder();
  if (r == nullptr) return real_recv(buffer, count, type, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const MPI_Message taken = *message;
  TrackedRequest probe;
  const bool tracked = take_message(taken, probe);
  CallScope call(*r, F, site, tracked ? probe.comm->id : 0, tracked ? probe.peer : record::unknown_rank,
                 tracked ? probe.tag : record::any_tag);
  const int result = real_recv(buffer, count, type, message, status);
  call.returned();
  if (tracked) {
    record_received(call, *probe.comm, *status, result, probe.ordinal, flag::posted);
    release(probe.comm);
  } else if (taken == handles.message_no_proc && result == MPI_SUCCESS) {
    call.record(EventKind::recv_done, 0, 0, next_receive(), record::proc_null, record::any_tag, 0);
  }
  return result;
}

template <Function F, class Real, class Count>
int wrap_imrecv(Site site, Real real_recv, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                MPI_Request* request) {
  Recorder* r = recorder();
  if (r == nullptr) return real_recv(buffer, count, type, message, request);
  const MPI_Message taken = *message;
  TrackedRequest probe;
  const bool tracked = take_message(taken, probe);
  CallScope call(*r, F, site, tracked ? probe.comm->id : 0, tracked ? probe.peer : record::unknown_rank,
                 tracked ? probe.tag : record::any_tag);
  const int result = real_recv(buffer, count, type, message, request);
  call.returned();
  if (tracked) {
    if (result == MPI_SUCCESS) {
      call.record(EventKind::call, probe.comm->id, 0, probe.ordinal, probe.peer, probe.tag,
                  flag::nonblocking | probe.comm->flags);
      probe.flags = flag::nonblocking | probe.comm->flags;
      track_request(call, *request, probe);
    } else {
      record_refused_receive(call, *probe.comm, probe.ordinal, flag::posted);
    }
    release(probe.comm);
  } else if (taken == handles.message_no_proc && result == MPI_SUCCESS) {
    call.record(EventKind::recv_done, 0, 0, next_receive(), record::proc_null, record::any_tag, flag::nonblocking);
  }
  return result;
}

}  // namespace pclscope
