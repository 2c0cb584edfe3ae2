#include "interpose/recorder/requests.hpp"

#include <stdlib.h>

#include "real_functions.hpp"

namespace pclscope {

constinit RequestTable tracked_requests;
constinit std::uint64_t shared_requests[shared_requests_limit]{};

namespace {

std::atomic<bool> lock;  // guards additions to both tables
constinit MessageTable messages;
int shared_count = 0;

// Two requests in flight with one handle: that handle is shared.
void learn(MPI_Request first, MPI_Request second) {
  if (first == second && first != handles.request_null && !is_shared_request(first) &&
      shared_count < shared_requests_limit)
    shared_requests[shared_count++] = key_of(first);
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

TrackedRequest* add_request(MPI_Request request) {
  Guard guard(lock);
  return tracked_requests.insert(key_of(request));
}

namespace {

bool is_asleep(const TrackedRequest& r) { return r.asleep && is_receive(r.kind) && in_flight(r); }

int later_first(const void* a, const void* b) {
  const std::uint64_t one = (*static_cast<TrackedRequest* const*>(a))->begin;
  const std::uint64_t other = (*static_cast<TrackedRequest* const*>(b))->begin;
  return one > other ? -1 : one < other ? 1 : 0;
}

}  // namespace

void keep_asleep(Unrecorded& accounts) {
  std::size_t count = 0, taken = 0;
  tracked_requests.for_each([&](const TrackedRequest& r) { count += is_asleep(r); });
  if (count == 0) return;
  auto** found = static_cast<TrackedRequest**>(malloc(count * sizeof(TrackedRequest*)));
  if (found == nullptr) accounts.life_give_up();
  tracked_requests.for_each([&](TrackedRequest& r) {
    if (!is_asleep(r)) return;
    r.asleep = false;
    r.ordinal = 0;  // without memory: nobody knows of it
    if (found != nullptr) found[taken++] = &r;
  });
  if (taken != 0) qsort(found, taken, sizeof *found, later_first);
  const std::uint64_t counter = process.receives.load(std::memory_order_relaxed);
  OutstandingReceive* later = nullptr;
  for (std::size_t i = 0; i < taken; ++i) {
    TrackedRequest& r = *found[i];
    record::Event event{};
    event.site = r.site;
    event.comm = r.comm_id;
    event.peer = r.peer;
    event.tag = r.tag;
    event.function = static_cast<std::uint16_t>(r.function);
    event.flags = r.flags;
    later = accounts.outstanding_earlier(event, {counter, r.begin}, later);
    r.ordinal = reinterpret_cast<std::uint64_t>(later);
  }
  free(found);
}

bool give_up(const TrackedRequest& entry, TrackedRequest& lost) {
  lost = entry;
  if (is_receive(lost.kind) && in_flight(lost)) return true;
  if (lost.comm != nullptr) release(lost.comm);
  return false;
}

bool forget(MPI_Request request, TrackedRequest& which) {
  TrackedRequest* entry = find_request(request);
  if (entry == nullptr || entry->kind == RequestKind::none) return false;
  which = *entry;
  entry->kind = RequestKind::none;
  return true;
}

void track_message(MPI_Message message, const TrackedRequest& what) {
  TrackedRequest* entry = messages.find(key_of(message));
  if (entry == nullptr) {
    Guard guard(lock);
    entry = messages.insert(key_of(message));
  }
  if (entry != nullptr) *entry = what;
}

bool take_message(MPI_Message message, TrackedRequest& what) {
  TrackedRequest* entry = messages.find(key_of(message));
  if (entry == nullptr || entry->kind == RequestKind::none) return false;
  what = *entry;
  entry->kind = RequestKind::none;
  return true;
}

}  // namespace pclscope
