// Sends and receives, blocking and nonblocking, and the calls that do both.
#pragma once

#include "interpose/wrap/dormant.hpp"

namespace pclscope {

// Sends and blocking receives of a muted thread: channels are counted, nothing else. To nobody: nothing at all.
template <class Real, class Count>
PCLSCOPE_INLINE int count_send(Recorder& muted, Real real_send, const void* buffer, Count count, MPI_Datatype type,
                               int dest, int tag, MPI_Comm comm) {
  const CallEnd end(&muted);
  if (dest == MPI_PROC_NULL) {
    muted.missed(1);
    return real_send(buffer, count, type, dest, tag, comm);
  }
  const int result = real_send(buffer, count, type, dest, tag, comm);
  if (result == MPI_SUCCESS) {
    const Communicator& c = muted.communicator(comm);
    muted.count_send(c.id, c.peer(dest), tag);
  }
  return result;
}

template <class Real, class Count>
PCLSCOPE_INLINE int count_recv(Recorder& muted, Real real_recv, void* buffer, Count count, MPI_Datatype type,
                               int source, int tag, MPI_Comm comm, MPI_Status* status) {
  const CallEnd end(&muted);
  if (source == MPI_PROC_NULL) {
    muted.missed(1);
    return real_recv(buffer, count, type, source, tag, comm, status);
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Unrecorded::Post post = muted.posting();
  const int result = real_recv(buffer, count, type, source, tag, comm, status);
  if (took_message(result)) {
    const Communicator& c = muted.communicator(comm);
    muted.count_receive(c.id, c.peer(status->MPI_SOURCE), tag_of(status->MPI_TAG), post);
  }
  return result;
}

// Every wrapper that must be fast has its body twice: for a thread that records and has MPI to itself inline, and for
// everything else out of line.
template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int send_by(Recorder& r, bool plain, Caller caller, Real real_send, const void* buffer, Count count,
                            MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const Communicator& c = r.communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(r, F, caller, c.id, peer, tag, plain);
  const std::uint64_t early = call.early_send();
  const int result = real_send(buffer, count, type, dest, tag, comm);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    record_send(call, c, r.bytes(count, type), peer, tag, Mode | c.flags, early);
  } else if (call.threads) {
    refuse_send(call, c, peer, tag, Mode | c.flags, early, result);
  }
  return result;
}

template <Function F, std::uint32_t Mode, class Real, class Count>
[[gnu::noinline]] int send_otherwise(Caller caller, Real real_send, const void* buffer, Count count, MPI_Datatype type,
                                     int dest, int tag, MPI_Comm comm) {
  if (Recorder* off = switched_off_recorder()) return count_send(*off, real_send, buffer, count, type, dest, tag, comm);
  Recorder* r = recorder();
  if (r == nullptr && (r = muted_recorder()) != nullptr)
    return count_send(*r, real_send, buffer, count, type, dest, tag, comm);
  if (r == nullptr) return real_send(buffer, count, type, dest, tag, comm);
  return send_by<F, Mode>(*r, false, caller, real_send, buffer, count, type, dest, tag, comm);
}

template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int wrap_send(Caller caller, Real real_send, const void* buffer, Count count, MPI_Datatype type,
                              int dest, int tag, MPI_Comm comm) {
  comm = app_comm(comm);
  if (Recorder* r = plain_recorder()) [[likely]]
    return send_by<F, Mode>(*r, true, caller, real_send, buffer, count, type, dest, tag, comm);
  if (Recorder* r = lone_sleeper()) {
    const int result = real_send(buffer, count, type, dest, tag, comm);
    if (result == MPI_SUCCESS) count_sent(*r, comm, dest, tag);
    return result;
  }
  return send_otherwise<F, Mode>(caller, real_send, buffer, count, type, dest, tag, comm);
}

// A send that was posted: its event, and its request, which may be waited for or cancelled.
PCLSCOPE_INLINE void record_posted_send(CallScope& call, Communicator& c, std::uint64_t bytes, std::int32_t peer,
                                        int tag, std::uint32_t flags, std::uint64_t early, MPI_Request request) {
  const std::uint64_t ordinal = record_send(call, c, bytes, peer, tag, flags, early);
  if (is_shared_request(request)) return;  // complete already
  track_inline(call, request,
               {.comm = &c,
                .ordinal = ordinal,
                .bytes = bytes,
                .peer = peer,
                .tag = tag,
                .function = call.function,
                .kind = RequestKind::send,
                .active = true,
                .unrecorded = ordinal == unnumbered,
                .flags = flags});
}

template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int isend_by(Recorder& r, bool plain, Caller caller, Real real_isend, const void* buffer, Count count,
                             MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  Communicator& c = r.communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(r, F, caller, c.id, peer, tag, plain);
  const std::uint64_t early = call.early_send();
  const int result = real_isend(buffer, count, type, dest, tag, comm, request);
  call.returned();
  const std::uint32_t flags = Mode | flag::nonblocking | c.flags;
  if (result == MPI_SUCCESS) [[likely]] {
    record_posted_send(call, c, r.bytes(count, type), peer, tag, flags, early, *request);
  } else if (call.threads) {
    refuse_send(call, c, peer, tag, flags, early, result);
  }
  return result;
}

template <Function F, std::uint32_t Mode, class Real, class Count>
[[gnu::noinline]] int isend_otherwise(Caller caller, Real real_isend, const void* buffer, Count count,
                                      MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  Recorder* r = switched_off_recorder();
  if (r == nullptr) r = tracking_recorder();
  if (r == nullptr) return real_isend(buffer, count, type, dest, tag, comm, request);
  if (r->muted()) {  // such a request is not tracked: MPI_Cancel of an unknown one is taken for it
    const auto post = [&](const void* b, Count n, MPI_Datatype t, int to, int tg, MPI_Comm c) {
      return real_isend(b, n, t, to, tg, c, request);
    };
    const int result = count_send(*r, post, buffer, count, type, dest, tag, comm);
    if (result == MPI_SUCCESS) end_stale(*r, F, caller, *request);
    return result;
  }
  return isend_by<F, Mode>(*r, false, caller, real_isend, buffer, count, type, dest, tag, comm, request);
}

template <Function F, std::uint32_t Mode, class Real, class Count>
PCLSCOPE_INLINE int wrap_isend(Caller caller, Real real_isend, const void* buffer, Count count, MPI_Datatype type,
                               int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  if (Recorder* r = plain_recorder()) [[likely]]
    return isend_by<F, Mode>(*r, true, caller, real_isend, buffer, count, type, dest, tag, comm, request);
  if (Recorder* r = lone_sleeper())
    return dormant_isend<F>(*r, caller, real_isend, buffer, count, type, dest, tag, comm, request);
  return isend_otherwise<F, Mode>(caller, real_isend, buffer, count, type, dest, tag, comm, request);
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int recv_by(Recorder& r, bool plain, Caller caller, Real real_recv, void* buffer, Count count,
                            MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r.communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(r, F, caller, c.id, peer, tag_of(tag), plain);
  const BlockingReceive receive(call, c, peer, tag);
  const int result = real_recv(buffer, count, type, source, tag, comm, status);
  call.returned();
  record_received(call, c, *status, result, receive);
  return result;
}

template <Function F, class Real, class Count>
[[gnu::noinline]] int recv_otherwise(Caller caller, Real real_recv, void* buffer, Count count, MPI_Datatype type,
                                     int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (Recorder* off = switched_off_recorder())
    return count_recv(*off, real_recv, buffer, count, type, source, tag, comm, status);
  Recorder* r = recorder();
  if (r == nullptr && (r = muted_recorder()) != nullptr)
    return count_recv(*r, real_recv, buffer, count, type, source, tag, comm, status);
  if (r == nullptr) return real_recv(buffer, count, type, source, tag, comm, status);
  return recv_by<F>(*r, false, caller, real_recv, buffer, count, type, source, tag, comm, status);
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int wrap_recv(Caller caller, Real real_recv, void* buffer, Count count, MPI_Datatype type, int source,
                              int tag, MPI_Comm comm, MPI_Status* status) {
  comm = app_comm(comm);
  if (Recorder* r = plain_recorder()) [[likely]]
    return recv_by<F>(*r, true, caller, real_recv, buffer, count, type, source, tag, comm, status);
  if (Recorder* r = lone_sleeper()) return dormant_recv(*r, real_recv, buffer, count, type, source, tag, comm, status);
  return recv_otherwise<F>(caller, real_recv, buffer, count, type, source, tag, comm, status);
}

// A nonblocking receive that was posted with `number`. From MPI_PROC_NULL it is complete at once.
PCLSCOPE_INLINE void record_posted_receive(CallScope& call, Communicator& c, std::uint64_t number, std::int32_t peer,
                                           int tag, std::uint32_t flags, MPI_Request request,
                                           bool tells_status = true) {
  if (peer == record::proc_null || is_shared_request(request)) {
    record_nobody(call, c.id, number, flags);
    return;
  }
  TrackedRequest what = {.comm = &c,
                         .peer = peer,
                         .tag = tag_of(tag),
                         .function = call.function,
                         .kind = RequestKind::receive,
                         .active = true,
                         .flags = flags};
  if (!tells_status) {
    what.untold = true;
    what.bytes = untold_bytes;
  }
  record_post(call, c, what, number);
  track_inline(call, request, what);
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int irecv_by(Recorder& r, bool plain, Caller caller, Real real_irecv, void* buffer, Count count,
                             MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  Communicator& c = r.communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(r, F, caller, c.id, peer, tag_of(tag), plain);
  const std::uint64_t number = call.number_receive();
  const int result = real_irecv(buffer, count, type, source, tag, comm, request);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    record_posted_receive(call, c, number, peer, tag, flag::nonblocking | c.flags, *request);
  } else {
    refuse_receive(call, c, number, flag::nonblocking);
  }
  return result;
}

template <Function F, class Real, class Count>
[[gnu::noinline]] int irecv_otherwise(Caller caller, Real real_irecv, void* buffer, Count count, MPI_Datatype type,
                                      int source, int tag, MPI_Comm comm, MPI_Request* request) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_irecv(buffer, count, type, source, tag, comm, request);
  const CallEnd end(r);
  return irecv_by<F>(*r, false, caller, real_irecv, buffer, count, type, source, tag, comm, request);
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int wrap_irecv(Caller caller, Real real_irecv, void* buffer, Count count, MPI_Datatype type, int source,
                               int tag, MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  if (Recorder* r = plain_recorder()) [[likely]]
    return irecv_by<F>(*r, true, caller, real_irecv, buffer, count, type, source, tag, comm, request);
  if (Recorder* r = lone_sleeper())
    return dormant_irecv<F>(*r, caller, real_irecv, buffer, count, type, source, tag, comm, request);
  return irecv_otherwise<F>(caller, real_irecv, buffer, count, type, source, tag, comm, request);
}

// MPI_Sendrecv and MPI_Sendrecv_replace: one send and one completed receive with the same times.
template <Function F, class Count, class Call>
PCLSCOPE_INLINE int exchange(Caller caller, Count count, MPI_Datatype type, int dest, int send_tag, int source, int tag,
                             MPI_Comm comm, MPI_Status* status, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) [[unlikely]]
    return real_call(comm, status);
  const CallEnd end(r);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  const std::int32_t to = c.peer(dest), from = c.peer(source);
  r->await_send_to(to, send_tag);
  CallScope call(*r, F, caller, c.id, from, tag_of(tag));
  const std::uint64_t early = call.early_send();
  const BlockingReceive receive(call, c, from, tag);
  const int result = real_call(comm, status);
  call.returned();
  if (took_message(result)) {
    record_send(call, c, r->bytes(count, type), to, send_tag, c.flags, early);
  } else {
    refuse_send(call, c, to, send_tag, c.flags, early, result);
  }
  record_received(call, c, *status, result, receive);
  return result;
}

template <Function F, class Real, class Count>
int wrap_sendrecv(Caller caller, Real real_call, const void* out, Count out_count, MPI_Datatype out_type, int dest,
                  int send_tag, void* in, Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm,
                  MPI_Status* status) {
  return exchange<F>(
      caller, out_count, out_type, dest, send_tag, source, tag, comm, status, [&](MPI_Comm c, MPI_Status* s) {
        return real_call(out, out_count, out_type, dest, send_tag, in, in_count, in_type, source, tag, c, s);
      });
}

template <Function F, class Real, class Count>
int wrap_sendrecv_replace(Caller caller, Real real_call, void* buffer, Count count, MPI_Datatype type, int dest,
                          int send_tag, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  return exchange<F>(caller, count, type, dest, send_tag, source, tag, comm, status, [&](MPI_Comm c, MPI_Status* s) {
    return real_call(buffer, count, type, dest, send_tag, source, tag, c, s);
  });
}

// MPI_Isendrecv and MPI_Isendrecv_replace: the request stands for the receive.
template <Function F, class Count, class Call>
PCLSCOPE_INLINE int post_exchange(Caller caller, Count count, MPI_Datatype type, int dest, int send_tag, int source,
                                  int tag, MPI_Comm comm, MPI_Request* request, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) [[unlikely]]
    return real_call(comm);
  Communicator& c = r->communicator(comm);
  const std::int32_t to = c.peer(dest), from = c.peer(source);
  CallScope call(*r, F, caller, c.id, from, tag_of(tag));
  const std::uint64_t early = call.early_send();
  const std::uint64_t number = call.number_receive();
  const int result = real_call(comm);
  call.returned();
  const std::uint32_t flags = flag::nonblocking | c.flags;
  if (result == MPI_SUCCESS) {
    record_send(call, c, r->bytes(count, type), to, send_tag, flags, early);
    record_posted_receive(call, c, number, from, tag, flags, *request, isendrecv_tells_status);
  } else {
    refuse_send(call, c, to, send_tag, flags, early, result);
    refuse_receive(call, c, number, flag::nonblocking);
  }
  return result;
}

template <Function F, class Real, class Count>
int wrap_isendrecv(Caller caller, Real real_call, const void* out, Count out_count, MPI_Datatype out_type, int dest,
                   int send_tag, void* in, Count in_count, MPI_Datatype in_type, int source, int tag, MPI_Comm comm,
                   MPI_Request* request) {
  return post_exchange<F>(caller, out_count, out_type, dest, send_tag, source, tag, comm, request, [&](MPI_Comm c) {
    return real_call(out, out_count, out_type, dest, send_tag, in, in_count, in_type, source, tag, c, request);
  });
}

template <Function F, class Real, class Count>
int wrap_isendrecv_replace(Caller caller, Real real_call, void* buffer, Count count, MPI_Datatype type, int dest,
                           int send_tag, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  return post_exchange<F>(caller, count, type, dest, send_tag, source, tag, comm, request, [&](MPI_Comm c) {
    return real_call(buffer, count, type, dest, send_tag, source, tag, c, request);
  });
}

}  // namespace pclscope
