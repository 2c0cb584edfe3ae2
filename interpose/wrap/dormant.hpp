// The short ways of a dormant process: preloaded, nobody attached, one thread. Sends and blocking receives are counted
// per channel, nonblocking receives stand in the table of requests (keep_asleep) and are counted when they complete.
// Whatever is rare takes the ordinary way, which does the same.
#pragma once

#include <new>

#include "interpose/wrap/completion.hpp"

namespace pclscope {

PCLSCOPE_INLINE void count_sent(Recorder& r, MPI_Comm comm, int dest, int tag) {
  if (dest == MPI_PROC_NULL) return;
  const Communicator& c = r.communicator(comm);
  r.life_sent(c.id, c.peer(dest), tag);
}

template <class Real, class Count>
PCLSCOPE_INLINE int dormant_recv(Recorder& r, Real real_recv, void* buffer, Count count, MPI_Datatype type, int source,
                                 int tag, MPI_Comm comm, MPI_Status* status) {
  const bool any = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
  MPI_Status own;
  if (any && status == MPI_STATUS_IGNORE) status = &own;
  const std::uint64_t order = Unrecorded::next_order();
  const int result = real_recv(buffer, count, type, source, tag, comm, status);
  if (source == MPI_PROC_NULL || !took_message(result)) return result;
  const Communicator& c = r.communicator(comm);
  r.life_received(c.id, c.peer(any ? status->MPI_SOURCE : source), any ? tag_of(status->MPI_TAG) : tag, order);
  return result;
}

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int dormant_isend(Recorder& r, Caller caller, Real real_isend, const void* buffer, Count count,
                                  MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real_isend(buffer, count, type, dest, tag, comm, request);
  if (result != MPI_SUCCESS) return result;
  count_sent(r, comm, dest, tag);
  if (!is_shared_request(*request)) end_stale(r, F, caller, *request);
  return result;
}

// A receive of which nothing but its request tells. Its entry names something else yet, or there is none.
[[gnu::cold]] void keep_request(Recorder& r, MPI_Request request, const TrackedRequest& what);

template <Function F, class Real, class Count>
PCLSCOPE_INLINE int dormant_irecv(Recorder& r, Caller caller, Real real_irecv, void* buffer, Count count,
                                  MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  const int result = real_irecv(buffer, count, type, source, tag, comm, request);
  if (result != MPI_SUCCESS || source == MPI_PROC_NULL || is_shared_request(*request)) return result;
  Communicator& c = r.communicator(comm);
  const auto what = [&]() __attribute__((always_inline))->TrackedRequest {
    return {.comm_id = c.id,
            .comm = source == MPI_ANY_SOURCE ? &c : nullptr,
            .begin = r.post_asleep(),
            .site = caller.address(),
            .peer = c.peer(source),
            .tag = tag_of(tag),
            .function = F,
            .kind = RequestKind::receive,
            .active = true,
            .unrecorded = true,
            .asleep = true,
            .flags = flag::nonblocking | c.flags};
  };
  if (source == MPI_ANY_SOURCE) hold(&c);
  TrackedRequest* entry = find_request(*request);
  if (entry == nullptr || entry->kind != RequestKind::none) [[unlikely]] {
    keep_request(r, *request, what());
  } else {
    new (entry) TrackedRequest(what());  // in place: a copy would have to wait for the stores into it
  }
  return result;
}

// Can its end be told by end_asleep()?
inline bool is_simple(const TrackedRequest& r) { return !r.cancelled && ((r.asleep && !r.untold) || is_send(r.kind)); }
// MPI completed it. False: not a simple one after all, nothing was done.
PCLSCOPE_INLINE bool end_asleep(Recorder& r, TrackedRequest& done, const MPI_Status& status) {
  if (!is_simple(done)) return false;
  if (is_receive(done.kind)) {
    if (seems_cancelled(status)) return false;
    const bool any = done.peer == record::any_source && done.comm != nullptr;
    r.life_received(done.comm_id, any ? done.comm->peer(status.MPI_SOURCE) : done.peer, tag_of(status.MPI_TAG),
                    done.begin);
    finished(done);
  }
  withdraw(done);
  return true;
}
// The same for any request, whatever MPI returned for it.
[[gnu::cold]] void end_otherwise(Recorder& r, Function function, Caller caller, TrackedRequest& done,
                                 const MPI_Status& status, int error);

// Wait and Test: `real_call(status)`; `done` says whether it completed the request.
template <Function F, class Call, class Done>
PCLSCOPE_INLINE int dormant_completion(Recorder& r, Caller caller, MPI_Request* request, MPI_Status* status,
                                       Call real_call, Done done) {
  TrackedRequest* entry = flying_request(*request);
  if (entry == nullptr) return real_call(status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int result = real_call(status);
  if (result == MPI_SUCCESS) [[likely]] {
    if (done() && !end_asleep(r, *entry, *status)) end_otherwise(r, F, caller, *entry, *status, result);
  } else if (ended_by_error(*request, result)) {
    end_otherwise(r, F, caller, *entry, *status, result);
  }
  return result;
}

template <Function F, class Real>
[[gnu::noinline]] int dormant_waitall(Recorder& r, Caller caller, Real real_wait, int count, MPI_Request* requests,
                                      MPI_Status* statuses) {
  TrackedRequest* entries[few_requests];
  bool known = false;
  for (int i = 0; i < count; ++i) known |= (entries[i] = flying_request(requests[i])) != nullptr;
  if (!known) return real_wait(count, requests, statuses);
  MPI_Status own[few_requests];
  if (statuses == MPI_STATUSES_IGNORE) statuses = own;
  const int result = real_wait(count, requests, statuses);
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) return result;
  for (int i = 0; i < count; ++i) {
    if (entries[i] == nullptr) continue;
    const int error = result == MPI_SUCCESS ? MPI_SUCCESS : statuses[i].MPI_ERROR;
    if (error == MPI_ERR_PENDING) continue;
    if (error != MPI_SUCCESS || !end_asleep(r, *entries[i], statuses[i]))
      end_otherwise(r, F, caller, *entries[i], statuses[i], error);
  }
  return result;
}

// Start and Startall.
template <class Call>
PCLSCOPE_INLINE int dormant_start(Recorder& r, Caller caller, int count, MPI_Request* requests, Call real_call) {
  const int result = real_call();
  if (result != MPI_SUCCESS) return result;
  for (int i = 0; i < count; ++i) {
    TrackedRequest* entry = find_request(requests[i]);
    if (entry == nullptr || !is_persistent(entry->kind)) continue;
    entry->active = entry->unrecorded = true;
    entry->cancelled = entry->asleep = false;
    if (entry->kind == RequestKind::persistent_send) {
      entry->ordinal = unnumbered;
      r.life_sent(entry->comm_id, entry->peer, entry->tag);
    } else if (entry->kind == RequestKind::persistent_receive) {
      entry->asleep = true;
      entry->begin = r.post_asleep();
      entry->site = caller.address();
    } else {
      entry->ordinal = add_to<std::uint64_t>(entry->comm->collectives, 1);
    }
  }
  return result;
}

}  // namespace pclscope
