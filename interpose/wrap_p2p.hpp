// Sends and receives, blocking and nonblocking, and the calls that do both.
#pragma once

#include "interpose/call_scope.hpp"

namespace pclscope {

template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int wrap_send(Site site, Real real_send, const void* buffer, Count count, MPI_Datatype type, int dest,
                              int tag, MPI_Comm comm) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_send(buffer, count, type, dest, tag, comm);
  const Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(*r, F, site, c.id, peer, tag);
  const int result = real_send(buffer, count, type, dest, tag, comm);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]]
    call.record(EventKind::send, c.id, r->bytes(count, type), next_send(), peer, tag, Mode | c.flags);
  return result;
}

// A send that was posted: its event, and its request in case it gets cancelled.
PCLSCOPE_INLINE void record_posted_send(CallScope& call, Communicator& c, std::uint64_t bytes, std::int32_t peer,
                                        int tag, std::uint32_t flags, MPI_Request request) {
  const std::uint64_t ordinal = next_send();
  call.record(EventKind::send, c.id, bytes, ordinal, peer, tag, flags);
  if (is_shared_request(request)) return;  // complete already
  track_request(call, request,
                {.key = 0, .comm = &c, .ordinal = ordinal, .begin = 0, .bytes = bytes, .site = 0, .peer = peer,
                 .tag = tag, .function = call.function, .kind = RequestKind::send, .active = true,
                 .cancelled = false, .flags = flags});
}

template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int wrap_isend(Site site, Real real_isend, const void* buffer, Count count, MPI_Datatype type, int dest,
                               int tag, MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_isend(buffer, count, type, dest, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(*r, F, site, c.id, peer, tag);
  const int result = real_isend(buffer, count, type, dest, tag, comm, request);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]]
    record_posted_send(call, c, r->bytes(count, type), peer, tag, Mode | flag::nonblocking | c.flags, *request);
  return result;
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int wrap_recv(Site site, Real real_recv, void* buffer, Count count, MPI_Datatype type, int source,
                              int tag, MPI_Comm comm, MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_recv(buffer, count, type, source, tag, comm, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const std::uint64_t ordinal = next_receive();
  const int result = real_recv(buffer, count, type, source, tag, comm, status);
  call.returned();
  record_received(call, c, *status, result, ordinal, 0);
  return result;
}

// A nonblocking receive that was posted with `ordinal`. From MPI_PROC_NULL it is complete at once.
PCLSCOPE_INLINE void record_posted_receive(CallScope& call, Communicator& c, std::uint64_t ordinal, std::int32_t peer,
                                           int tag, std::uint32_t flags, MPI_Request request) {
  if (peer == record::proc_null || is_shared_request(request)) {
    call.record(EventKind::recv_done, c.id, 0, ordinal, record::proc_null, record::any_tag, flags);
    return;
  }
  call.record(EventKind::recv_post, c.id, 0, ordinal, peer, tag_of(tag), flags);
  track_request(call, request,
                {.key = 0, .comm = &c, .ordinal = ordinal, .begin = 0, .bytes = 0, .site = 0, .peer = peer,
                 .tag = tag_of(tag), .function = call.function, .kind = RequestKind::receive, .active = true,
                 .cancelled = false, .flags = flags});
}

// A receive that MPI refused: its number must not stay open.
inline void record_refused_receive(CallScope& call, const Communicator& c, std::uint64_t ordinal, std::uint32_t flags) {
  call.record(EventKind::recv_cancelled, c.id, 0, ordinal, record::unknown_rank, record::any_tag,
              flags | c.flags | flag::failed);
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int wrap_irecv(Site site, Real real_irecv, void* buffer, Count count, MPI_Datatype type, int source,
                               int tag, MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_irecv(buffer, count, type, source, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, site, c.id, peer, tag_of(tag));
  const std::uint64_t ordinal = next_receive();
  const int result = real_irecv(buffer, count, type, source, tag, comm, request);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    record_posted_receive(call, c, ordinal, peer, tag, flag::nonblocking | c.flags, *request);
  } else {
    record_refused_receive(call, c, ordinal, flag::nonblocking);
  }
  return result;
}

// MPI_Sendrecv and MPI_Sendrecv_replace: one send and one completed receive with the same times.
template <Function F, class Count, class Call>
PCLSCOPE_INLINE int exchange(Site site, Count count, MPI_Datatype type, int dest, int send_tag, int source, int tag,
                             MPI_Comm comm, MPI_Status* status, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_call(comm, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, site, c.id, c.peer(source), tag_of(tag));
  const std::uint64_t ordinal = next_receive();
  const int result = real_call(comm, status);
  call.returned();
  if (took_message(result))
    call.record(EventKind::send, c.id, r->bytes(count, type), next_send(), c.peer(dest), send_tag, c.flags);
  record_received(call, c, *status, result, ordinal, 0);
  return result;
}

template <Function F, class Real, class Count>
int wrap_sendrecv(Site site, Real real_call, const void* out, Count out_count, MPI_Datatype out_type, int dest,
                  int send_tag, void* in, Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm,
                  MPI_Status* status) {
  return exchange<F>(site, out_count, out_type, dest, send_tag, source, tag, comm, status,
                     [&](MPI_Comm c, MPI_Status* s) {
                       return real_call(out, out_count, out_type, dest, send_tag, in, in_count, in_type, source, tag,
                                        c, s);
                     });
}

template <Function F, class Real, class Count>
int wrap_sendrecv_replace(Site site, Real real_call, void* buffer, Count count, MPI_Datatype type, int dest,
                          int send_tag, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return exchange<F>(site, count, type, dest, send_tag, source, tag, comm, status, [&](MPI_Comm c, MPI_Status* s) {
    return real_call(buffer, count, type, dest, send_tag, source, tag, c, s);
  });
}

// MPI_Isendrecv and MPI_Isendrecv_replace: the request stands for the receive.
template <Function F, class Count, class Call>
PCLSCOPE_INLINE int post_exchange(Site site, Count count, MPI_Datatype type, int dest, int send_tag, int source,
                                  int tag, MPI_Comm comm, MPI_Request* request, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_call(comm);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, site, c.id, peer, tag_of(tag));
  const std::uint64_t ordinal = next_receive();
  const int result = real_call(comm);
  call.returned();
  if (result == MPI_SUCCESS) {
    const std::uint32_t flags = flag::nonblocking | c.flags;
    call.record(EventKind::send, c.id, r->bytes(count, type), next_send(), c.peer(dest), send_tag, flags);
    record_posted_receive(call, c, ordinal, peer, tag, flags, *request);
  } else {
    record_refused_receive(call, c, ordinal, flag::nonblocking);
  }
  return result;
}

template <Function F, class Real, class Count>
int wrap_isendrecv(Site site, Real real_call, const void* out, Count out_count, MPI_Datatype out_type, int dest,
                   int send_tag, void* in, Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return post_exchange<F>(site, out_count, out_type, dest, send_tag, source, tag, comm, request, [&](MPI_Comm c) {
    return real_call(out, out_count, out_type, dest, send_tag, in, in_count, in_type, source, tag, c, request);
  });
}

template <Function F, class Real, class Count>
int wrap_isendrecv_replace(Site site, Real real_call, void* buffer, Count count, MPI_Datatype type, int dest,
                           int send_tag, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return post_exchange<F>(site, count, type, dest, send_tag, source, tag, comm, request, [&](MPI_Comm c) {
    return real_call(buffer, count, type, dest, send_tag, source, tag, c, request);
  });
}

}  // namespace pclscope
