// Probes, and the receives of messages that a matched probe took.
#pragma once

#include "interpose/wrap/wrap_p2p.hpp"

namespace pclscope {

// Probe and Iprobe only look: a `call` event that says what lies there, and whether they looked for any source.
PCLSCOPE_INLINE void record_probed(CallScope& call, const Communicator& c, const MPI_Status& status, int source) {
  const std::uint32_t flags = c.flags | (source == MPI_ANY_SOURCE ? flag::first_come : 0);
  call.record(EventKind::call, c.id, bytes_in(status), 0, c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), flags);
}

template <Function F, class Real>
int wrap_probe(Caller caller, Real real_probe, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  comm = app_comm(comm);
  if (lone_sleeper() != nullptr) return real_probe(source, tag, comm, status);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, caller, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, status);
  call.returned();
  if (result == MPI_SUCCESS) record_probed(call, c, *status, source);
  return result;
}

template <Function F, class Real>
int wrap_iprobe(Caller caller, Real real_probe, int source, int tag, MPI_Comm comm, int* found, MPI_Status* status) {
  comm = app_comm(comm);
  if (lone_sleeper() != nullptr) return real_probe(source, tag, comm, found, status);
  Recorder* r = recorder();
  if (r == nullptr) return real_probe(source, tag, comm, found, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, caller, c.id, c.peer(source), tag_of(tag));
  const int result = real_probe(source, tag, comm, found, status);
  call.returned();
  if (result == MPI_SUCCESS && *found != 0) {
    call.found_something();
    record_probed(call, c, *status, source);
  } else if (result == MPI_SUCCESS) {
    call.found_nothing();
  }
  return result;
}

// The number of a matched probe, taken and (for a blocking one) announced before it looks if there may be other
// threads.
inline BlockingReceive probe_numbered(CallScope& call, const Communicator& c, std::int32_t peer, int tag, bool blocks) {
  BlockingReceive receive;
  if (call.quiet || (process.multiple && blocks)) {
    receive = BlockingReceive(call, c, peer, tag);
  } else if (process.multiple && peer != record::proc_null) {
    receive.number = call.number_receive();
    receive.post = call.recorder.posting();
  }
  return receive;
}

inline bool give_receive_back(std::uint64_t number) {
  std::uint64_t next = number + 1;
  return process.receives.compare_exchange_strong(next, number, std::memory_order_acq_rel);
}

// Mrecv and Imrecv of MPI_MESSAGE_NO_PROC.
inline void record_received_from_nobody(CallScope& call, MPI_Message message, int result, std::uint32_t flags) {
  if (message != handles.message_no_proc || result != MPI_SUCCESS) return;
  record_nobody(call, 0, call.number_receive(), flags);
  if (process.multiple) call.recorder.numbered_call_returned();
}

// A matched probe takes the message out of the queue: that is the moment of matching. With MPI_PROC_NULL there is
// no message; every such handle is the same, so it is not tracked. If there may be other threads, `receive` was
// numbered before the message was taken.
inline void record_matched(CallScope& call, Communicator& c, MPI_Message message, const MPI_Status& status,
                           const BlockingReceive& receive) {
  const std::int32_t peer = c.peer(status.MPI_SOURCE);
  const std::uint32_t flags = flag::matched_probe | c.flags;
  if (receive.number == unnumbered) {  // complete, as far as matching is concerned
    call.recorder.count_receive(c.id, peer, status.MPI_TAG, receive.post);
    return;
  }
  const std::uint64_t number = call.receive_ordinal(receive.number);
  if (call.for_life) {
    const Unrecorded::Post post = process.multiple ? receive.post : call.recorder.posting();
    call.recorder.life_received(c.id, peer, status.MPI_TAG, post.order);
  }
  if (!call.record(EventKind::recv_post, c.id, bytes_in(status), number, peer, status.MPI_TAG, flags)) {
    call.recorder.count_unrecorded(c.id, peer, status.MPI_TAG, call.recorder.posting());
    return;
  }
  track_message(message, {.comm_id = c.id,
                          .ordinal = number,
                          .peer = peer,
                          .tag = status.MPI_TAG,
                          .function = call.function,
                          .kind = RequestKind::receive,
                          .active = true,
                          .flags = c.flags});
}

// After Mprobe or a successful Improbe.
inline void end_matched_probe(CallScope& call, Communicator& c, MPI_Message message, const MPI_Status& status,
                              BlockingReceive& receive) {
  if (message == handles.message_no_proc) {
    record_probed(call, c, status, MPI_PROC_NULL);
    if (receive.number != unnumbered) record_nobody(call, c.id, receive.number, c.flags);
    return;
  }
  if (!process.multiple && !call.quiet) receive.number = next_receive();
  record_matched(call, c, message, status, receive);
}

template <Function F, class Real>
int wrap_mprobe(Caller caller, Real real_probe, int source, int tag, MPI_Comm comm, MPI_Message* message,
                MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_probe(source, tag, comm, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, caller, c.id, peer, tag_of(tag));
  BlockingReceive receive = probe_numbered(call, c, peer, tag, true);
  const int result = real_probe(source, tag, comm, message, status);
  call.returned();
  if (result == MPI_SUCCESS) {
    end_matched_probe(call, c, *message, *status, receive);
  } else {
    refuse_receive(call, c, receive.number, 0);
  }
  return result;
}

// Under MPI_THREAD_MULTIPLE the number of a probe that found nothing is given back, if nobody took the next meanwhile.
template <Function F, class Real>
int wrap_improbe(Caller caller, Real real_probe, int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                 MPI_Status* status) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_probe(source, tag, comm, found, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(source);
  CallScope call(*r, F, caller, c.id, peer, tag_of(tag));
  BlockingReceive receive = probe_numbered(call, c, peer, tag, false);
  const int result = real_probe(source, tag, comm, found, message, status);
  call.returned();
  if (result == MPI_SUCCESS && *found != 0) {
    call.probed_something();
    end_matched_probe(call, c, *message, *status, receive);
    return result;
  }
  if (result == MPI_SUCCESS) call.probed_nothing();
  if (receive.number != unnumbered && !give_receive_back(receive.number)) {
    refuse_receive(call, c, receive.number, 0);
  }
  return result;
}

// MPI refused to receive a message that a matched probe took out of the queue. While the program still has its handle
// it may come with better arguments; else the message is gone, and nobody sees its end.
[[gnu::cold]] inline void end_refused_message(CallScope& call, MPI_Message taken, MPI_Message now,
                                              const TrackedRequest& probe) {
  if (now == taken) {
    track_message(taken, probe);
  } else if (!is_stale(probe)) {
    call.record(EventKind::recv_freed, probe.comm_id, 0, probe.ordinal, probe.peer, probe.tag,
                probe.flags | flag::failed);
  }
}

template <Function F, class Real, class Count>
int wrap_mrecv(Caller caller, Real real_recv, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
               MPI_Status* status) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_recv(buffer, count, type, message, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const MPI_Message taken = *message;
  TrackedRequest probe;
  const bool tracked = take_message(taken, probe);
  CallScope call(*r, F, caller, tracked ? probe.comm_id : 0, tracked ? probe.peer : record::unknown_rank,
                 tracked ? probe.tag : record::any_tag);
  const int result = real_recv(buffer, count, type, message, status);
  call.returned();
  if (tracked) {
    if (is_stale(probe)) return result;
    if (took_message(result)) {
      call.record(EventKind::recv_done, probe.comm_id, bytes_in(*status), probe.ordinal, probe.peer, probe.tag,
                  probe.flags | flag::posted | failure_flags(result));
    } else {
      end_refused_message(call, taken, *message, probe);
    }
  } else {
    record_received_from_nobody(call, taken, result, 0);
  }
  return result;
}

template <Function F, class Real, class Count>
int wrap_imrecv(Caller caller, Real real_recv, void* buffer, Count count, MPI_Datatype type, MPI_Message* message,
                MPI_Request* request) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_recv(buffer, count, type, message, request);
  const MPI_Message taken = *message;
  TrackedRequest probe;
  const bool tracked = take_message(taken, probe);
  CallScope call(*r, F, caller, tracked ? probe.comm_id : 0, tracked ? probe.peer : record::unknown_rank,
                 tracked ? probe.tag : record::any_tag);
  const int result = real_recv(buffer, count, type, message, request);
  call.returned();
  if (tracked && result == MPI_SUCCESS) {
    probe.flags |= flag::nonblocking;
    probe.probed = call.for_life;
    call.record(EventKind::call, probe.comm_id, 0, probe.ordinal, probe.peer, probe.tag, probe.flags);
    track_known(call, *request, probe);
  } else if (tracked) {
    end_refused_message(call, taken, *message, probe);
  } else {
    if (result == MPI_SUCCESS) track_nothing(call, *request);
    record_received_from_nobody(call, taken, result, flag::nonblocking);
  }
  return result;
}

}  // namespace pclscope
