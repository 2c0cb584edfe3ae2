#include "interpose/wrap/completion.hpp"

#include "interpose/library/fortran_handles.hpp"

namespace pclscope {

namespace {

bool was_cancelled(const TrackedRequest& done, const MPI_Status& status) {
  if (!done.cancelled && !seems_cancelled(status)) [[likely]]
    return false;
  int cancelled = 0;
  return real.Test_cancelled(&status, &cancelled) == MPI_SUCCESS && cancelled != 0;
}

void write(CallScope& call, EventKind kind, const TrackedRequest& done) {
  call.record(kind, done.comm_id, 0, done.ordinal, done.peer, done.tag, done.flags);
}

std::int32_t source_of(const TrackedRequest& done, const MPI_Status& status) {
  return done.peer == record::any_source && done.comm != nullptr ? done.comm->peer(status.MPI_SOURCE) : done.peer;
}

// Posted while nothing was recorded. True when it has a number meanwhile, which is filled in.
bool numbered_meanwhile(CallScope& call, TrackedRequest& done, std::int32_t source, std::int32_t tag, bool took) {
  if (done.asleep) {
    if (took) call.recorder.count_receive(done.comm_id, source, tag, {0, done.begin});
    return false;
  }
  if (outstanding(done) == nullptr) return false;  // there was no memory: nobody knows of it
  Unrecorded::Post post;
  std::uint64_t number;
  if (Unrecorded::end(outstanding(done), number, post)) {
    if (call.for_life && took) call.recorder.life_received(done.comm_id, source, tag, post.order);
    done.ordinal = number;
    return true;
  }
  if (took) call.recorder.count_receive(done.comm_id, source, tag, post);
  return false;
}

// Partitioned receives, and MPICH's Isendrecv: what they took is known from the post, or not at all.
void told_by_itself(CallScope& call, TrackedRequest done) {
  if (done.peer == record::any_source || done.tag == record::any_tag) return record_unseen(call, done);
  if (done.unrecorded && !numbered_meanwhile(call, done, done.peer, done.tag, true)) return;
  call.record(EventKind::recv_done, done.comm_id, done.bytes, done.ordinal, done.peer, done.tag,
              done.flags | flag::posted);
}

void receive_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (receive_recorded(call, done, status)) [[likely]]
    return;
  if (done.untold) [[unlikely]] {
    told_by_itself(call, done);
    return;
  }
  const bool cancelled = was_cancelled(done, status);
  if (done.unrecorded) [[unlikely]] {
    TrackedRequest numbered = done;
    numbered.unrecorded = false;
    if (numbered_meanwhile(call, numbered, source_of(done, status), tag_of(status.MPI_TAG), !cancelled))
      receive_completed(call, numbered, status);
    return;
  }
  if (done.probed && is_stale(done)) return;
  if (cancelled) {
    write(call, EventKind::recv_cancelled, done);
  } else {
    call.record(EventKind::recv_done, done.comm_id, bytes_in(status), done.ordinal, source_of(done, status),
                tag_of(status.MPI_TAG), done.flags | flag::posted);
  }
}

// What a long call waited for may have been the receiver of this send.
bool worth_telling(const CallScope& call, const TrackedRequest& done) {
  return call.end - call.begin >= record::long_call_ticks && !call.quiet && !done.unrecorded && !is_stale(done) &&
         (done.bytes >= record::long_call_bytes || (done.flags & flag::synchronous) != 0) &&
         (done.flags & (flag::buffered | flag::partitioned)) == 0 && done.peer >= 0;
}
[[gnu::cold]] void tell_send(CallScope& call, const TrackedRequest& done) {
  call.record(EventKind::send_done, done.comm_id, done.bytes, done.ordinal, done.peer, done.tag, done.flags);
}

void send_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (!done.cancelled || (done.unrecorded && !call.for_life)) [[likely]]
    return;
  const bool cancelled = was_cancelled(done, status);
  if (cancelled && call.for_life) call.recorder.life_unsent(done.comm_id, done.peer, done.tag);
  if (done.unrecorded || is_stale(done)) return;
  write(call, cancelled ? EventKind::send_cancelled : EventKind::send_not_cancelled, done);
}

// Nonblocking: from the call that posted it to the return of the one that completed it; how long that one took stands
// as its tag, if it completed no receives: else its time is theirs.
void collective_completed(CallScope& call, const TrackedRequest& done, bool with_receives = false) {
  if (done.unrecorded) return;
  const std::int32_t length =
      call.quiet || with_receives ? record::any_tag : record::completion_length(call.end - call.begin);
  call.recorder.write(EventKind::collective, done.function, done.begin, call.end, done.site, done.comm_id, done.bytes,
                      done.ordinal, done.peer, length, done.flags);
}

// The application's variable: a handle, or Fortran's integer, as bit 0 of its address says (fortran/arguments.hpp).
MPI_Comm duplicate_made(std::uint64_t address) {
  if ((address & 1) != 0) return from_fortran<MPI_Comm>(*reinterpret_cast<const MPI_Fint*>(address - 1));
  return *reinterpret_cast<const MPI_Comm*>(address);
}

void duplicate_completed(CallScope& call, const TrackedRequest& done) {
  const MPI_Comm made = duplicate_made(done.bytes);
  const Communicator& c = register_communicator(made, done.comm, Origin::dup, done.ordinal);
  call.recorder.write(EventKind::comm_created, done.function, done.begin, call.end, done.site, c.id,
                      done.comm->local_count + ((done.flags & flag::intercomm) != 0 ? done.comm->peer_count : 0),
                      done.comm_id, 0, record::any_tag, done.flags);
}

void end_one_of(CallScope& call, KeptRequests& kept, int i, const MPI_Status& status, bool of_all = false) {
  kept.completed(i, [&](const TrackedRequest& done) {
    if (is_receive(done.kind)) kept.ended_receive();
    if (is_collective(done.kind)) [[unlikely]] {
      collective_completed(call, done, kept.with_receives(of_all));
      finished(done);
    } else {
      record_completed(call, done, status);
    }
  });
}
void fail_one_of(CallScope& call, KeptRequests& kept, int i, const MPI_Status& status, int error) {
  kept.completed(i, [&](const TrackedRequest& done) { record_failed(call, done, status, error); });
}

}  // namespace

void end_request(CallScope call, TrackedRequest& entry, const MPI_Status& status) {
  record_completed(call, entry, status);
  withdraw(entry);
}

void record_completed(CallScope& call, const TrackedRequest& done, const MPI_Status& status) {
  if (is_send(done.kind) && !done.cancelled && worth_telling(call, done)) [[unlikely]]
    tell_send(call, done);
  if (done.kind == RequestKind::send && !done.cancelled) [[likely]]
    return;
  switch (done.kind) {
    case RequestKind::receive:
    case RequestKind::persistent_receive: receive_completed(call, done, status); break;
    case RequestKind::send:
    case RequestKind::persistent_send: send_completed(call, done, status); break;
    case RequestKind::persistent_collective:
    case RequestKind::collective: collective_completed(call, done); break;
    case RequestKind::comm_dup: duplicate_completed(call, done); break;
    case RequestKind::none: return;
  }
  finished(done);
}

void record_failed(CallScope& call, const TrackedRequest& done, const MPI_Status& status, int error) {
  if (is_receive(done.kind)) {
    if (took_message(error)) {
      TrackedRequest truncated = done;
      truncated.flags |= failure_flags(error);
      receive_completed(call, truncated, status);
    } else {  // whether it took a message, nobody knows
      TrackedRequest doubtful = done;
      doubtful.flags |= flag::failed;
      record_unseen(call, doubtful);
    }
  }
  finished(done);
}

void end_one_of_all(CallScope call, TrackedRequest& entry, const MPI_Status& status, bool with_receives) {
  if (is_collective(entry.kind)) {
    collective_completed(call, entry, with_receives);
    finished(entry);
  } else {
    record_completed(call, entry, status);
  }
  withdraw(entry);
}

void fail_request(CallScope call, TrackedRequest& entry, const MPI_Status& status, int error) {
  record_failed(call, entry, status, error);
  withdraw(entry);
}

void record_all(CallScope& call, KeptRequests& before, int count, const MPI_Status* statuses, int result) {
  if (result == MPI_SUCCESS) [[likely]] {
    for (int i = 0; i < count; ++i) end_one_of(call, before, i, statuses[i], true);
    return;
  }
  if (result != MPI_ERR_IN_STATUS) return;
  for (int i = 0; i < count; ++i) {
    const int error = statuses[i].MPI_ERROR;
    if (error == MPI_SUCCESS) {
      end_one_of(call, before, i, statuses[i]);
    } else if (error != MPI_ERR_PENDING) {
      fail_one_of(call, before, i, statuses[i], error);
    }
  }
}

void fail_all(CallScope call, TrackedRequest* const* entries, int count, const MPI_Status* statuses, int result) {
  if (result != MPI_ERR_IN_STATUS) return;
  for (int i = 0; i < count; ++i) {
    const int error = statuses[i].MPI_ERROR;
    if (entries[i] == nullptr || error == MPI_ERR_PENDING) continue;
    if (error == MPI_SUCCESS) {
      end_one_of_all(call, *entries[i], statuses[i], false);
    } else {
      fail_request(call, *entries[i], statuses[i], error);
    }
  }
}

void record_any(CallScope& call, KeptRequests& before, int count, int index, const MPI_Request* requests,
                const MPI_Status& status, int result) {
  if (index < 0 || index >= count) return;
  if (result == MPI_SUCCESS) [[likely]] {
    end_one_of(call, before, index, status);
  } else if (ended_by_error(requests[index], result)) {
    fail_one_of(call, before, index, status, result);
  }
}

void record_some(CallScope& call, KeptRequests& before, int count, int completed, const int* indices,
                 const MPI_Status* statuses, int result) {
  for (int k = 0; k < completed && k < count; ++k) {
    if (indices[k] < 0 || indices[k] >= count) continue;
    const int error = result == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
      end_one_of(call, before, indices[k], statuses[k]);
    } else {
      fail_one_of(call, before, indices[k], statuses[k], error);
    }
  }
}

}  // namespace pclscope
