// Wait*, Test*. They keep the request handles, which MPI overwrites, and have statuses of their own where the
// application ignores them: wildcards are resolved by the status. The call's own event comes first, then what it
// completed, in the order of the array. A test that completes nothing leaves no event: loops of it would fill the ring.
#pragma once

#include "interpose/wrap/completion.hpp"
#include "interpose/wrap/dormant.hpp"
#include "interpose/wrap/kept_requests.hpp"

namespace pclscope {

PCLSCOPE_INLINE void record_call(CallScope& call, std::uint64_t completions) {
  call.record_inline(EventKind::call, 0, 0, completions, record::unknown_rank, record::any_tag, 0);
}
// Of a Test*: it may end a loop of them.
PCLSCOPE_INLINE void record_test(CallScope& call, std::uint64_t completions) {
  call.found_something();
  record_call(call, completions);
}

// What `kept` completed, or failed to.
PCLSCOPE_INLINE void end_one(CallScope& call, KeptRequest& kept, const MPI_Status& status) {
  kept.completed([&](const TrackedRequest& done) { record_completed(call, done, status); });
}
inline void fail_one(CallScope& call, KeptRequest& kept, const MPI_Status& status, int error) {
  kept.completed([&](const TrackedRequest& done) { record_failed(call, done, status, error); });
}

template <Function F, class Real>
[[gnu::noinline]] int wait_otherwise(Caller caller, Real real_wait, MPI_Request* request, MPI_Status* status) {
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_wait(request, status);
  const CallEnd end(r);
  const MPI_Request handle = *request;
  KeptRequest kept(handle);
  const TrackedRequest* what = kept.what();
  if (r->muted() && what == nullptr) {
    r->missed(1);
    return real_wait(request, status);
  }
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  r->await_one(what != nullptr ? awaited_of(*what) : 0, what != nullptr ? what->comm_id : 0);
  CallScope call(*r, F, caller, what != nullptr ? what->comm_id : 0,
                 what != nullptr ? what->peer : record::unknown_rank, what != nullptr ? what->tag : record::any_tag);
  const int result = real_wait(request, status);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    record_call(call, handle != handles.request_null ? 1 : 0);
    end_one(call, kept, *status);
  } else if (ended_by_error(*request, result)) {
    fail_one(call, kept, *status, result);
  }
  return result;
}

// As in wrap_p2p.hpp: where the thread records and has MPI to itself inline.
template <Function F, class Real>
int wrap_wait(Caller caller, Real real_wait, MPI_Request* request, MPI_Status* status) {
  Recorder* r = plain_recorder();
  if (r == nullptr) [[unlikely]] {
    if ((r = lone_sleeper()) == nullptr) return wait_otherwise<F>(caller, real_wait, request, status);
    return dormant_completion<F>(
        *r, caller, request, status, [&](MPI_Status* s) { return real_wait(request, s); }, [] { return true; });
  }
  const MPI_Request handle = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Kept kept;
  kept.look_up(handle);
  const TrackedRequest nothing = {.peer = record::unknown_rank, .tag = record::any_tag};
  const TrackedRequest& what = kept.entry != nullptr ? *kept.entry : nothing;
  r->await_one(awaited_of(what), what.comm_id);
  CallScope call(*r, F, caller, what.comm_id, what.peer, what.tag, true);
  const int result = real_wait(request, status);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    call.record_inline(EventKind::call, 0, 0, handle != handles.request_null ? 1 : 0, record::unknown_rank,
                       record::any_tag, 0);
    if (kept.entry != nullptr) end_request(call, *kept.entry, *status);
  } else if (kept.entry != nullptr && ended_by_error(*request, result)) {
    fail_request(call, *kept.entry, *status, result);
  }
  return result;
}

template <Function F, class Real>
int wrap_test(Caller caller, Real real_test, MPI_Request* request, int* done, MPI_Status* status) {
  Recorder* r = lone_sleeper();
  if (r != nullptr)
    return dormant_completion<F>(
        *r, caller, request, status, [&](MPI_Status* s) { return real_test(request, done, s); },
        [&] { return *done != 0; });
  r = tracking_recorder();
  if (r == nullptr) [[unlikely]]
    return real_test(request, done, status);
  const CallEnd end(r);
  const MPI_Request handle = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  KeptRequest kept(handle);
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(request, done, status);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    if (handle == handles.request_null) return result;
    if (*done == 0) {
      call.found_nothing();
      return result;
    }
    record_test(call, 1);
    end_one(call, kept, *status);
  } else if (ended_by_error(*request, result)) {
    fail_one(call, kept, *status, result);
  }
  return result;
}

// As in wrap_p2p.hpp: where the thread records and has MPI to itself, for few requests.
template <Function F, class Real>
[[gnu::noinline]] int waitall_few(Recorder& r, Caller caller, Real real_wait, int count, MPI_Request* requests,
                                  MPI_Status* statuses) {
  static_assert(few_requests <= record::awaited_limit);
  TrackedRequest* entries[few_requests];
  MPI_Status own[few_requests];
  if (statuses == MPI_STATUSES_IGNORE) statuses = own;
  record::SegmentHeader& header = r.header();
  std::uint32_t used = 0;
  bool receives = false;
  for (int i = 0; i < count; ++i) {
    TrackedRequest* entry = entries[i] = flying_request(requests[i]);
    if (requests[i] == handles.request_null) continue;
    std::uint64_t awaited = 0;
    if (entry != nullptr) {
      awaited = awaited_of(*entry);
      receives |= is_receive(entry->kind);
      if (is_collective(entry->kind)) header.awaited_comm[used].store(entry->comm_id, std::memory_order_relaxed);
    }
    header.awaited[used++].store(awaited, std::memory_order_relaxed);
  }
  header.call_awaited.store(used, std::memory_order_relaxed);
  CallScope call(r, F, caller, 0, record::unknown_rank, record::any_tag, true);
  const int result = real_wait(count, requests, statuses);
  call.returned();
  if (result != MPI_SUCCESS) [[unlikely]] {
    fail_all(call, entries, count, statuses, result);
    return result;
  }
  call.record_inline(EventKind::call, 0, 0, used, record::unknown_rank, record::any_tag, 0);
  const bool took_long = call.end - call.begin >= record::long_call_ticks;
  for (int i = 0; i < count; ++i) {
    if (entries[i] == nullptr) continue;
    TrackedRequest& done = *entries[i];
    const bool usual = is_send(done.kind)      ? !done.cancelled && !took_long
                       : is_receive(done.kind) ? receive_recorded(call, done, statuses[i])
                                               : false;
    if (usual) [[likely]] {
      withdraw(done);
    } else {
      end_one_of_all(call, done, statuses[i], receives);
    }
  }
  return result;
}

template <Function F, class Real>
int wrap_waitall(Caller caller, Real real_wait, int count, MPI_Request* requests, MPI_Status* statuses) {
  Recorder* r = plain_recorder();
  if (r != nullptr && count > 0 && count <= few_requests) [[likely]]
    return waitall_few<F>(*r, caller, real_wait, count, requests, statuses);
  r = lone_sleeper();
  if (r != nullptr && count <= few_requests)
    return dormant_waitall<F>(*r, caller, real_wait, count, requests, statuses);
  r = tracking_recorder();
  if (r == nullptr || count <= 0) [[unlikely]]
    return real_wait(count, requests, statuses);
  const CallEnd end(r);
  KeptRequests before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_wait(count, requests, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  before.await();
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_wait(count, requests, statuses);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]]
    record_call(call, before.used());
  record_all(call, before, count, statuses, result);
  return result;
}

template <Function F, class Real>
int wrap_testall(Caller caller, Real real_test, int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  Recorder* r = tracking_recorder();
  if (r == nullptr || count <= 0) [[unlikely]]
    return real_test(count, requests, done, statuses);
  const CallEnd end(r);
  KeptRequests before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_test(count, requests, done, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(count, requests, done, statuses);
  call.returned();
  if (result == MPI_SUCCESS) {
    if (before.used() == 0) return result;
    if (*done == 0) {
      call.found_nothing();
      return result;
    }
    record_test(call, before.used());
  }
  record_all(call, before, count, statuses, result);
  return result;
}

template <Function F, class Real>
int wrap_waitany(Caller caller, Real real_wait, int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Recorder* r = tracking_recorder();
  if (r == nullptr || count <= 0) [[unlikely]]
    return real_wait(count, requests, index, status);
  const CallEnd end(r);
  KeptRequests before(*r, count, requests, false);
  if (!before.ready()) return real_wait(count, requests, index, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  before.await();
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_wait(count, requests, index, status);
  call.returned();
  if (result == MPI_SUCCESS) record_call(call, *index == MPI_UNDEFINED ? 0 : 1);
  record_any(call, before, count, *index, requests, *status, result);
  return result;
}

template <Function F, class Real>
int wrap_testany(Caller caller, Real real_test, int count, MPI_Request* requests, int* index, int* done,
                 MPI_Status* status) {
  Recorder* r = tracking_recorder();
  if (r == nullptr || count <= 0) [[unlikely]]
    return real_test(count, requests, index, done, status);
  const CallEnd end(r);
  KeptRequests before(*r, count, requests, false);
  if (!before.ready()) return real_test(count, requests, index, done, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(count, requests, index, done, status);
  call.returned();
  if (result == MPI_SUCCESS) {
    if (*done == 0) {
      call.found_nothing();
      return result;
    }
    if (*index == MPI_UNDEFINED) return result;
    record_test(call, 1);
  }
  record_any(call, before, count, *index, requests, *status, result);
  return result;
}

// Waitsome and Testsome differ in nothing but whether an event is due when nothing completed.
template <Function F, bool Waiting, class Real>
int complete_some(Caller caller, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  Recorder* r = tracking_recorder();
  if (r == nullptr || count <= 0) [[unlikely]]
    return real_call(count, requests, completed, indices, statuses);
  const CallEnd end(r);
  KeptRequests before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_call(count, requests, completed, indices, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  if constexpr (Waiting) before.await();
  CallScope call(*r, F, caller, 0, record::unknown_rank, record::any_tag);
  const int result = real_call(count, requests, completed, indices, statuses);
  call.returned();
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) return result;
  const int n = *completed == MPI_UNDEFINED ? 0 : *completed;
  if (result == MPI_SUCCESS && Waiting) record_call(call, static_cast<std::uint64_t>(n));
  if (result == MPI_SUCCESS && !Waiting) {
    if (n > 0) {
      record_test(call, static_cast<std::uint64_t>(n));
    } else if (*completed == 0) {
      call.found_nothing();
    }
  }
  record_some(call, before, count, n, indices, statuses, result);
  return result;
}

template <Function F, class Real>
int wrap_waitsome(Caller caller, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  return complete_some<F, true>(caller, real_call, count, requests, completed, indices, statuses);
}

template <Function F, class Real>
int wrap_testsome(Caller caller, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  return complete_some<F, false>(caller, real_call, count, requests, completed, indices, statuses);
}

}  // namespace pclscope
