#include "interpose/wrap/call_scope.hpp"

namespace pclscope {

bool CallScope::record(EventKind kind, std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal,
                       std::int32_t peer, std::int32_t tag, std::uint32_t flags) {
  return record_inline(kind, comm, bytes, ordinal, peer, tag, flags);
}

bool refused_arguments(int result) {
  int error_class = MPI_ERR_OTHER;
  if (real.Error_class(result, &error_class) != MPI_SUCCESS) return false;
  switch (error_class) {
    case MPI_ERR_BUFFER:
    case MPI_ERR_COUNT:
    case MPI_ERR_TYPE:
    case MPI_ERR_TAG:
    case MPI_ERR_COMM:
    case MPI_ERR_RANK:
    case MPI_ERR_REQUEST:
    case MPI_ERR_ROOT:
    case MPI_ERR_OP:
    case MPI_ERR_TOPOLOGY:
    case MPI_ERR_ARG: return true;
    default: return false;
  }
}

// After any other error than bad arguments it may have become a message: nothing behind it on its channel is certain.
void refuse_send(CallScope call, const Communicator& c, std::int32_t peer, int tag, std::uint32_t flags,
                 std::uint64_t early, int result) {
  if (early == unnumbered) return;
  if (refused_arguments(result)) peer = record::proc_null;
  call.record(EventKind::send, c.id, 0, call.send_ordinal(early), peer, tag, flags | flag::failed);
}

BlockingReceive BlockingReceive::announced(CallScope call, std::uint64_t number, const Communicator& c,
                                           std::int32_t peer, int tag) {
  BlockingReceive receive;
  receive.number = number;
  if (peer == record::any_source) receive.flags = flag::first_come;
  if (call.threads && !call.quiet && peer != record::proc_null) {
    if (call.recorder.write(EventKind::recv_post, call.function, call.begin, call.begin, call.site, c.id, 0, number,
                            peer, tag_of(tag), flag::entered | c.flags)) {
      receive.flags |= flag::posted;
    } else {
      receive.number = unnumbered;
    }
  }
  receive.post = call.recorder.posting();
  return receive;
}

void record_other_end(CallScope call, const Communicator& c, const MPI_Status& status, int result,
                      BlockingReceive receive) {
  const bool took = took_message(result);
  if (receive.number == unnumbered) {
    if (took) call.recorder.count_receive(c.id, c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), receive.post);
    return;
  }
  const std::uint64_t ordinal = call.receive_ordinal(receive.number);
  if (took) {
    if (call.for_life)
      call.recorder.life_received(c.id, c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), receive.post.order);
    call.record(EventKind::recv_done, c.id, bytes_in(status), ordinal, c.peer(status.MPI_SOURCE),
                tag_of(status.MPI_TAG), receive.flags | c.flags | failure_flags(result));
  } else {
    call.record(EventKind::recv_cancelled, c.id, 0, ordinal, record::unknown_rank, record::any_tag,
                c.flags | flag::failed);
  }
}

void refuse_receive(CallScope call, const Communicator& c, std::uint64_t number, std::uint32_t flags) {
  if (number == unnumbered) return;
  call.record(EventKind::recv_cancelled, c.id, 0, call.receive_ordinal(number), record::unknown_rank, record::any_tag,
              flags | c.flags | flag::failed);
}

void end_unseen(CallScope call, const TrackedRequest& lost) {
  record_unseen(call, lost);
  finished(lost);
}

void track_request(CallScope& call, MPI_Request request, const TrackedRequest& what) {
  track_inline(call, request, what);
}

void track_known(CallScope& call, MPI_Request request, const TrackedRequest& what) {
  track_nothing(call, request);
  TrackedRequest* entry = find_request(request);
  if (entry == nullptr) entry = add_request(request);
  if (entry != nullptr) *entry = what;
}

void track_nothing(CallScope& call, MPI_Request request) {
  TrackedRequest lost;
  if (!forget(request, lost)) [[likely]]
    return;
  if (is_receive(lost.kind) && in_flight(lost)) record_unseen(call, lost);
  if (lost.comm != nullptr) release(lost.comm);
}

namespace {

// It counts as complete where it is known which channel it is of: one that is not will take a message there. Else, and
// after an error, nobody knows. False: there is nothing to be recorded.
bool end_for_life(CallScope& call, TrackedRequest& r) {
  Unrecorded::Post post;
  std::uint64_t number = unnumbered;
  const bool numbered = !r.asleep && Unrecorded::end(outstanding(r), number, post);
  if (r.asleep) post = {0, r.begin};
  const bool definite = r.peer != record::any_source && r.tag != record::any_tag && (r.flags & flag::failed) == 0;
  if (!definite) call.recorder.accounts().life_give_up();
  if (numbered) {
    if (definite) call.recorder.life_received(r.comm_id, r.peer, r.tag, post.order);
    r.ordinal = number;
  } else if (definite) {
    call.recorder.count_receive(r.comm_id, r.peer, r.tag, post);
  } else if (call.recorder.session() != 0) {
    call.recorder.lose_track();
  }
  return numbered;
}

}  // namespace

void record_unseen(CallScope& call, const TrackedRequest& receive) {
  TrackedRequest r = receive;
  if (r.unrecorded && process.attachable) {
    if ((!r.asleep && outstanding(r) == nullptr) || !end_for_life(call, r)) return;
    call.record(EventKind::recv_freed, r.comm_id, 0, r.ordinal, r.peer, r.tag, r.flags);
    return;
  }
  if (is_stale(r)) return;
  if (r.unrecorded && (outstanding(r) == nullptr || !Unrecorded::let_go(outstanding(r), r.ordinal))) return;
  call.record(EventKind::recv_freed, r.comm_id, 0, r.ordinal, r.peer, r.tag, r.flags);
}

void record_nobody(CallScope call, std::uint64_t comm, std::uint64_t number, std::uint32_t flags) {
  if (number == unnumbered) {
    call.recorder.missed(1);
  } else {
    call.record(EventKind::recv_done, comm, 0, call.receive_ordinal(number), record::proc_null, record::any_tag, flags);
  }
}

OutstandingReceive* post_unrecorded(CallScope call, std::uint64_t number, std::uint64_t comm, std::int32_t peer,
                                    std::int32_t tag, std::uint32_t flags, std::uint64_t ordinal) {
  record::Event event{};
  event.site = call.site;
  event.comm = comm;
  event.peer = peer;
  event.tag = tag;
  event.function = static_cast<std::uint16_t>(call.function);
  event.flags = flags;
  Unrecorded::Post post = call.recorder.posting();
  // Its number is lost, but tells which receives of other threads were posted while it was.
  if (process.multiple && number < post.counter) post.counter = number;
  return call.recorder.outstanding(event, post, ordinal);
}

}  // namespace pclscope
