// Wait*, Test*. They keep the request handles, which MPI overwrites, and have statuses of their own where the
// application ignores them: wildcards are resolved by the status. The call's own event comes first, then what it
// completed, in the order of the array. A test that completes nothing leaves no event: loops of it would fill the ring.
#pragma once

#include "interpose/completion.hpp"

namespace pclscope {

// Copies of the handles and room for statuses, for one call. Up to 64 on the stack, beyond in memory that the
// recorder keeps. Without memory: ready() is false.
class Kept {
 public:
  Kept(Recorder& r, int count, const MPI_Request* requests, bool with_statuses) : recorder_(r) {
    const auto n = static_cast<std::size_t>(count);
    if (n > limit) {
      const std::size_t status_bytes = with_statuses ? n * sizeof(MPI_Status) : 0;
      memory_ = recorder_.borrow(n * sizeof(MPI_Request) + status_bytes);
      statuses_ = static_cast<MPI_Status*>(memory_);
      requests_ = reinterpret_cast<MPI_Request*>(static_cast<char*>(memory_) + status_bytes);
      if (memory_ == nullptr) return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      requests_[i] = requests[i];
      used_ += requests[i] != handles.request_null;
    }
    ready_ = true;
  }
  ~Kept() {
    if (memory_ != nullptr) recorder_.give_back();
  }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  bool ready() const { return ready_; }
  std::uint64_t used() const { return used_; }  // handles that are not MPI_REQUEST_NULL
  MPI_Request operator[](int i) const { return requests_[i]; }
  MPI_Status* statuses() { return statuses_; }

 private:
  static constexpr std::size_t limit = 64;
  Recorder& recorder_;
  MPI_Request local_requests_[limit];
  MPI_Status local_statuses_[limit];
  MPI_Request* requests_ = local_requests_;
  MPI_Status* statuses_ = local_statuses_;
  void* memory_ = nullptr;
  std::uint64_t used_ = 0;
  bool ready_ = false;
};

PCLSCOPE_INLINE void record_call(CallScope& call, std::uint64_t completions) {
  call.record(EventKind::call, 0, 0, completions, record::unknown_rank, record::any_tag, 0);
}

template <Function F, class Real>
int wrap_wait(Site site, Real real_wait, MPI_Request* request, MPI_Status* status) {
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_wait(request, status);
  const MPI_Request handle = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  Awaited awaited = {0, record::unknown_rank, record::any_tag};
  look_at(handle, awaited);
  CallScope call(*r, F, site, awaited.comm, awaited.peer, awaited.tag);
  const int result = real_wait(request, status);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    record_call(call, handle != handles.request_null ? 1 : 0);
    record_completed(call, handle, *status);
  } else if (*request == handles.request_null) {
    record_failed(call, handle, *status, result);
  }
  return result;
}

template <Function F, class Real>
int wrap_test(Site site, Real real_test, MPI_Request* request, int* done, MPI_Status* status) {
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_test(request, done, status);
  const MPI_Request handle = *request;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(request, done, status);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] {
    if (*done == 0 || handle == handles.request_null) return result;
    record_call(call, 1);
    record_completed(call, handle, *status);
  } else if (*request == handles.request_null) {
    record_failed(call, handle, *status, result);
  }
  return result;
}

// After Waitall or Testall: `result` is MPI_SUCCESS, or MPI_ERR_IN_STATUS and each status tells.
inline void record_all(CallScope& call, const Kept& before, int count, const MPI_Status* statuses, int result) {
  if (result == MPI_SUCCESS) [[likely]] {
    for (int i = 0; i < count; ++i) record_completed(call, before[i], statuses[i]);
    return;
  }
  if (result != MPI_ERR_IN_STATUS) return;
  for (int i = 0; i < count; ++i) {
    const int error = statuses[i].MPI_ERROR;
    if (error == MPI_SUCCESS) {
      record_completed(call, before[i], statuses[i]);
    } else if (error != MPI_ERR_PENDING) {
      record_failed(call, before[i], statuses[i], error);
    }
  }
}

template <Function F, class Real>
int wrap_waitall(Site site, Real real_wait, int count, MPI_Request* requests, MPI_Status* statuses) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) [[unlikely]] return real_wait(count, requests, statuses);
  Kept before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_wait(count, requests, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_wait(count, requests, statuses);
  call.returned();
  if (result == MPI_SUCCESS) [[likely]] record_call(call, before.used());
  record_all(call, before, count, statuses, result);
  return result;
}

template <Function F, class Real>
int wrap_testall(Site site, Real real_test, int count, MPI_Request* requests, int* done, MPI_Status* statuses) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) [[unlikely]] return real_test(count, requests, done, statuses);
  Kept before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_test(count, requests, done, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(count, requests, done, statuses);
  call.returned();
  if (result == MPI_SUCCESS) {
    if (*done == 0 || before.used() == 0) return result;
    record_call(call, before.used());
  }
  record_all(call, before, count, statuses, result);
  return result;
}

// After Waitany or Testany: one request, or none at all (MPI_UNDEFINED).
inline void record_any(CallScope& call, const Kept& before, int count, int index, const MPI_Request* requests,
                       const MPI_Status& status, int result) {
  if (index < 0 || index >= count) return;
  if (result == MPI_SUCCESS) [[likely]] {
    record_completed(call, before[index], status);
  } else if (requests[index] == handles.request_null) {
    record_failed(call, before[index], status, result);
  }
}

template <Function F, class Real>
int wrap_waitany(Site site, Real real_wait, int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) [[unlikely]] return real_wait(count, requests, index, status);
  Kept before(*r, count, requests, false);
  if (!before.ready()) return real_wait(count, requests, index, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_wait(count, requests, index, status);
  call.returned();
  if (result == MPI_SUCCESS) record_call(call, *index == MPI_UNDEFINED ? 0 : 1);
  record_any(call, before, count, *index, requests, *status, result);
  return result;
}

template <Function F, class Real>
int wrap_testany(Site site, Real real_test, int count, MPI_Request* requests, int* index, int* done,
                 MPI_Status* status) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) [[unlikely]] return real_test(count, requests, index, done, status);
  Kept before(*r, count, requests, false);
  if (!before.ready()) return real_test(count, requests, index, done, status);
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_test(count, requests, index, done, status);
  call.returned();
  if (result == MPI_SUCCESS) {
    if (*done == 0 || *index == MPI_UNDEFINED) return result;
    record_call(call, 1);
  }
  record_any(call, before, count, *index, requests, *status, result);
  return result;
}

// After Waitsome or Testsome: statuses[k] belongs to requests[indices[k]].
inline void record_some(CallScope& call, const Kept& before, int count, int completed, const int* indices,
                        const MPI_Status* statuses, int result) {
  for (int k = 0; k < completed && k < count; ++k) {
    if (indices[k] < 0 || indices[k] >= count) continue;
    const MPI_Request request = before[indices[k]];
    const int error = result == MPI_ERR_IN_STATUS ? statuses[k].MPI_ERROR : MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
      record_completed(call, request, statuses[k]);
    } else {
      record_failed(call, request, statuses[k], error);
    }
  }
}

// Waitsome and Testsome differ in nothing but whether an event is due when nothing completed.
template <Function F, bool Waiting, class Real>
int complete_some(Site site, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  Recorder* r = recorder();
  if (r == nullptr || count <= 0) [[unlikely]] return real_call(count, requests, completed, indices, statuses);
  Kept before(*r, count, requests, statuses == MPI_STATUSES_IGNORE);
  if (!before.ready()) return real_call(count, requests, completed, indices, statuses);
  if (statuses == MPI_STATUSES_IGNORE) statuses = before.statuses();
  CallScope call(*r, F, site, 0, record::unknown_rank, record::any_tag);
  const int result = real_call(count, requests, completed, indices, statuses);
  call.returned();
  if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) return result;
  const int n = *completed == MPI_UNDEFINED ? 0 : *completed;
  if (result == MPI_SUCCESS && (Waiting || n > 0)) record_call(call, static_cast<std::uint64_t>(n));
  record_some(call, before, count, n, indices, statuses, result);
  return result;
}

template <Function F, class Real>
int wrap_waitsome(Site site, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  return complete_some<F, true>(site, real_call, count, requests, completed, indices, statuses);
}

template <Function F, class Real>
int wrap_testsome(Site site, Real real_call, int count, MPI_Request* requests, int* completed, int* indices,
                  MPI_Status* statuses) {
  return complete_some<F, false>(site, real_call, count, requests, completed, indices, statuses);
}

}  // namespace pclscope
