// Persistent requests: made, started, freed; and MPI_Cancel.
#pragma once

#include "interpose/wrap/dormant.hpp"

namespace pclscope {

inline void track_persistent(CallScope& call, Communicator& c, MPI_Request request, RequestKind kind,
                             std::uint64_t bytes, std::int32_t peer, int tag, std::uint32_t mode) {
  track_request(call, request,
                {.comm = &c,
                 .bytes = bytes,
                 .peer = peer,
                 .tag = tag_of(tag),
                 .function = call.function,
                 .kind = kind,
                 .flags = mode | flag::persistent | c.flags});
}

template <Function F, std::uint32_t Mode, class Real, class Count>
int wrap_send_init(Caller caller, Real real_init, const void* buffer, Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_init(buffer, count, type, dest, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(dest);
  CallScope call(*r, F, caller, c.id, peer, tag);
  const int result = real_init(buffer, count, type, dest, tag, comm, request);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::uint64_t bytes = r->bytes(count, type);
  track_persistent(call, c, *request, RequestKind::persistent_send, bytes, peer, tag, Mode);
  call.record(EventKind::call, c.id, bytes, 0, peer, tag, flag::persistent | c.flags);
  return result;
}

template <Function F, class Real, class Count>
int wrap_recv_init(Caller caller, Real real_init, void* buffer, Count count, MPI_Datatype type, int source, int tag,
                   MPI_Comm comm, MPI_Request* request) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_init(buffer, count, type, source, tag, comm, request);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, caller, c.id, peer, tag_of(tag));
  const int result = real_init(buffer, count, type, source, tag, comm, request);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  track_persistent(call, c, *request, RequestKind::persistent_receive, 0, peer, tag, 0);
  call.record(EventKind::call, c.id, r->bytes(count, type), 0, peer, tag_of(tag), flag::persistent | c.flags);
  return result;
}

// A persistent request becomes active. Receives are numbered by the call that posts them, and so are sends if there may
// be other threads. nullptr: not tracked.
PCLSCOPE_INLINE TrackedRequest* start(CallScope& call, MPI_Request request) {
  TrackedRequest* entry = find_request(request);
  if (entry == nullptr || !is_persistent(entry->kind)) return nullptr;
  entry->active = true;
  entry->cancelled = false;
  entry->unrecorded = entry->asleep = false;
  if (is_receive(entry->kind)) entry->ordinal = call.number_receive();
  if (is_send(entry->kind)) entry->ordinal = call.early_send();
  return entry;
}

// Its event comes when it completes.
inline void collective_started(CallScope call, TrackedRequest& s) {
  s.ordinal = add_to<std::uint64_t>(s.comm->collectives, 1);
  call.recorder.posted_collective(*s.comm);
  s.begin = call.begin;
  s.site = call.site;
  s.unrecorded = call.quiet;
}

// MPI accepted it.
PCLSCOPE_INLINE void record_started(CallScope& call, TrackedRequest& s) {
  if (s.kind == RequestKind::persistent_receive) {
    record_post(call, *s.comm, s, s.ordinal);
  } else if (s.kind == RequestKind::persistent_collective) {
    collective_started(call, s);
  } else {
    s.ordinal = record_send(call, *s.comm, s.bytes, s.peer, s.tag, s.flags, s.ordinal);
    s.unrecorded = s.ordinal == unnumbered;
  }
}

[[gnu::cold]] inline void record_not_started(CallScope call, TrackedRequest& s, int result) {
  s.active = false;
  if (is_receive(s.kind) && s.ordinal != unnumbered)
    call.record(EventKind::recv_cancelled, s.comm_id, 0, call.receive_ordinal(s.ordinal), s.peer, s.tag,
                s.flags | flag::failed);
  if (is_send(s.kind)) refuse_send(call, *s.comm, s.peer, s.tag, s.flags, s.ordinal, result);
}

// As in wrap_p2p.hpp: where the thread records and has MPI to itself, for few requests. Start and Startall.
template <Function F, class Call>
PCLSCOPE_INLINE int start_few(Recorder& r, Caller caller, int count, MPI_Request* requests, Call real_call) {
  TrackedRequest* started[few_requests];
  CallScope call(r, F, caller, 0, record::unknown_rank, record::any_tag, true);
  for (int i = 0; i < count; ++i) started[i] = start(call, requests[i]);
  const int result = real_call();
  call.returned();
  for (int i = 0; i < count; ++i) {
    if (started[i] == nullptr) continue;
    if (result == MPI_SUCCESS) [[likely]] {
      record_started(call, *started[i]);
    } else {
      record_not_started(call, *started[i], result);
    }
  }
  return result;
}

template <Function F, class Real>
int wrap_start(Caller caller, Real real_start, MPI_Request* request) {
  if (Recorder* plain = plain_recorder()) [[likely]]
    return start_few<F>(*plain, caller, 1, request, [&] { return real_start(request); });
  Recorder* r = lone_sleeper();
  if (r != nullptr) return dormant_start(*r, caller, 1, request, [&] { return real_start(request); });
  r = tracking_recorder();
  if (r == nullptr) return real_start(request);
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  TrackedRequest* started = start(call, *request);
  const int result = real_start(request);
  call.returned();
  if (started == nullptr) return result;
  if (result == MPI_SUCCESS) {
    record_started(call, *started);
  } else {
    record_not_started(call, *started, result);
  }
  return result;
}

// Two passes: receives are numbered before they are posted, events are written when MPI has accepted them.
template <Function F, class Real>
int wrap_startall(Caller caller, Real real_startall, int count, MPI_Request* requests) {
  Recorder* r = plain_recorder();
  if (r != nullptr && count > 0 && count <= few_requests) [[likely]]
    return start_few<F>(*r, caller, count, requests, [&] { return real_startall(count, requests); });
  r = lone_sleeper();
  if (r != nullptr) return dormant_start(*r, caller, count, requests, [&] { return real_startall(count, requests); });
  r = tracking_recorder();
  if (r == nullptr || count <= 0) return real_startall(count, requests);
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  for (int i = 0; i < count; ++i) start(call, requests[i]);
  const int result = real_startall(count, requests);
  call.returned();
  for (int i = 0; i < count; ++i) {
    TrackedRequest* started = find_request(requests[i]);
    if (started == nullptr || !is_persistent(started->kind) || !started->active) continue;
    if (result == MPI_SUCCESS) {
      record_started(call, *started);
    } else {
      record_not_started(call, *started, result);
    }
  }
  return result;
}

// Under MPI_THREAD_MULTIPLE the handle may be somebody else's as soon as MPI has freed it: the entry is emptied before.
template <Function F, class Real>
int wrap_request_free(Caller caller, Real real_free, MPI_Request* request) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_free(request);
  TrackedRequest* entry = find_request(*request);
  TrackedRequest which;
  const bool tracked = entry != nullptr && forget(*request, which);
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_free(request);
  call.returned();
  if (!tracked) return result;
  if (result != MPI_SUCCESS) {
    *entry = which;
    return result;
  }
  if (is_receive(which.kind) && in_flight(which)) record_unseen(call, which);
  if ((which.flags & flag::partitioned) != 0)  // its communicator was made for it alone
    call.record(EventKind::comm_freed, which.comm_id, 0, 0, record::any_source, record::any_tag, 0);
  if (which.comm != nullptr) release(which.comm);
  return result;
}

template <Function F, class Real>
int wrap_cancel(Caller caller, Real real_cancel, MPI_Request* request) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_cancel(request);
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  // Written before the message can vanish: a later one of its channel may be received as soon as it has. Should MPI
  // refuse, the completion says so as for any cancel that came too late.
  TrackedRequest* which = find_request(*request);
  if (which == nullptr || !in_flight(*which)) {
    // Perhaps a send that was counted, and may not become a message.
    if (*request != handles.request_null && !is_shared_request(*request)) {
      if (call.for_life) r->accounts().life_give_up();
      r->lose_track();
    }
  } else {
    which->cancelled = true;
    const bool counted = is_send(which->kind) && (which->unrecorded || is_stale(*which));
    if (counted) r->lose_track();
    if (is_send(which->kind) && !counted)
      r->write(EventKind::send_cancel_request, F, call.begin, call.begin, call.site, which->comm_id, which->bytes,
               which->ordinal, which->peer, which->tag, which->flags);
  }
  const int result = real_cancel(request);
  call.returned();
  return result;
}

}  // namespace pclscope
