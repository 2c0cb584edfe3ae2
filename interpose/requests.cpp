#include "interpose/requests.hpp"

#include "interpose/request_table.hpp"
#include "real_functions.hpp"

namespace pclscope {

namespace {

std::atomic<bool> lock;  // guards both tables
constinit RequestTable requests;
constinit RequestTable messages;

// Constant after MPI_Init.
constexpr int shared_limit = 3;
std::uint64_t shared[shared_limit];
int shared_count = 0;

bool persistent(const TrackedRequest& r) {
  return r.kind == RequestKind::persistent_send || r.kind == RequestKind::persistent_receive;
}

// Two requests in flight with one handle: that handle is shared.
void learn(MPI_Request first, MPI_Request second) {
  if (first == second && first != handles.request_null && !is_shared_request(first) && shared_count < shared_limit)
    shared[shared_count++] = key_of(first);
  real.Wait(&first, MPI_STATUS_IGNORE);
  if (second != first) real.Wait(&second, MPI_STATUS_IGNORE);
}

}  // namespace

void learn_shared_requests() {
  MPI_Request first = handles.request_null, second = handles.request_null;
  char nothing = 0;
  const MPI_Comm self = handles.self;
  if (real.Isend(&nothing, 0, handles.byte, MPI_PROC_NULL, 0, self, &first) == MPI_SUCCESS &&
      real.Isend(&nothing, 0, handles.byte, MPI_PROC_NULL, 0, self, &second) == MPI_SUCCESS)
    learn(first, second);
  if (real.Irecv(&nothing, 0, handles.byte, MPI_PROC_NULL, 0, self, &first) == MPI_SUCCESS &&
      real.Irecv(&nothing, 0, handles.byte, MPI_PROC_NULL, 0, self, &second) == MPI_SUCCESS)
    learn(first, second);
  if (real.Ibarrier(self, &first) == MPI_SUCCESS && real.Ibarrier(self, &second) == MPI_SUCCESS) learn(first, second);
}

bool is_shared_request(MPI_Request request) {
  const std::uint64_t key = key_of(request);
  return key == shared[0] || key == shared[1] || key == shared[2];
}

bool track(MPI_Request request, const TrackedRequest& what, TrackedRequest& lost) {
  const std::uint64_t key = key_of(request);
  hold(what.comm);
  Guard guard(lock);
  TrackedRequest* entry = requests.insert(key);
  if (entry == nullptr) {
    release(what.comm);
    return false;
  }
  const bool known = entry->kind != RequestKind::none;
  if (known) [[unlikely]] lost = *entry;
  *entry = what;
  entry->key = key;
  if (!known) [[likely]] return false;
  const bool receive = lost.kind == RequestKind::receive || (lost.kind == RequestKind::persistent_receive && lost.active);
  if (!receive) release(lost.comm);
  return receive;
}

bool look_at(MPI_Request request, Awaited& awaited) {
  Guard guard(lock);
  const TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr) return false;
  awaited = {entry->comm->id, entry->peer, entry->tag};
  return true;
}

bool complete(MPI_Request request, TrackedRequest& done) {
  Guard guard(lock);
  TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr) return false;
  if (persistent(*entry)) {
    if (!entry->active) return false;
    done = *entry;
    entry->active = entry->cancelled = false;
  } else {
    done = *entry;
    requests.erase(entry);
  }
  return true;
}

bool cancel(MPI_Request request, TrackedRequest& which) {
  Guard guard(lock);
  TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr || (persistent(*entry) && !entry->active)) return false;
  entry->cancelled = true;
  which = *entry;
  return true;
}

bool start(MPI_Request request, TrackedRequest& started) {
  Guard guard(lock);
  TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr || !persistent(*entry)) return false;
  entry->active = true;
  entry->cancelled = false;
  if (entry->kind == RequestKind::persistent_receive) entry->ordinal = next_receive();
  started = *entry;
  return true;
}

bool look_at_started(MPI_Request request, TrackedRequest& started) {
  Guard guard(lock);
  const TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr || !persistent(*entry) || !entry->active) return false;
  started = *entry;
  return true;
}

void number_started_send(MPI_Request request, std::uint64_t ordinal) {
  Guard guard(lock);
  if (TrackedRequest* entry = requests.find(key_of(request))) entry->ordinal = ordinal;
}

void stop(MPI_Request request) {
  Guard guard(lock);
  if (TrackedRequest* entry = requests.find(key_of(request))) entry->active = false;
}

bool forget(MPI_Request request, TrackedRequest& which) {
  Guard guard(lock);
  TrackedRequest* entry = requests.find(key_of(request));
  if (entry == nullptr) return false;
  which = *entry;
  requests.erase(entry);
  return true;
}

void track_message(MPI_Message message, const TrackedRequest& what) {
  hold(what.comm);
  Guard guard(lock);
  TrackedRequest* entry = messages.insert(key_of(message));
  if (entry == nullptr) {
    release(what.comm);
    return;
  }
  if (entry->kind != RequestKind::none) release(entry->comm);
  *entry = what;
  entry->key = key_of(message);
}

bool take_message(MPI_Message message, TrackedRequest& what) {
  Guard guard(lock);
  TrackedRequest* entry = messages.find(key_of(message));
  if (entry == nullptr) return false;
  what = *entry;
  messages.erase(entry);
  return true;
}

}  // namespace pclscope
