// What became of the application's requests and matched messages: from the call that posted them to the call that
// completes them. Handles alone name nothing: MPI reuses them, and gives one shared handle to operations that were
// complete at once (Open MPI to small sends and to anything with MPI_PROC_NULL). Such operations are recorded as
// complete when posted and never tracked; is_shared_request() knows those handles by experiment.
// An entry belongs to the thread that may complete the request. When MPI has completed one, another thread may get its
// handle at once: under MPI_THREAD_MULTIPLE whatever completes requests takes them out of the table before (Kept in
// wrap_completion.hpp).
#pragma once

#include <cstdint>

#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"
#include "interpose/recorder/communicators.hpp"
#include "interpose/recorder/stable_table.hpp"
#include "interpose/recorder/unrecorded.hpp"

namespace pclscope {

enum class RequestKind : std::uint8_t {
  none,
  send,  // tracked so that MPI_Cancel can name it, and a rank that waits for it
  receive,
  persistent_send,  // stay in the table until freed
  persistent_receive,
  persistent_collective,
  collective,
  comm_dup,  // `bytes` is the address of the application's MPI_Comm variable
};

struct TrackedRequest {
  std::uint64_t comm_id = 0;
  Communicator* comm = nullptr;  // held; nullptr where nothing but the id will be needed
  // Of the send, receive or collective; comm_dup: the reserved id; an unrecorded receive: its OutstandingReceive, if it
  // is not `asleep`.
  std::uint64_t ordinal = 0;
  std::uint64_t begin = 0;  // collectives and comm_dup: entry of the posting call
  std::uint64_t bytes = 0;
  std::uint64_t site = 0;
  std::int32_t peer = 0;  // as posted
  std::int32_t tag = 0;
  record::Function function{};
  RequestKind kind = RequestKind::none;
  bool active : 1 = false;      // persistent: started and not complete
  bool cancelled : 1 = false;   // MPI_Cancel was called
  bool unrecorded : 1 = false;  // posted while nothing was recorded: without a number
  bool untold : 1 = false;      // the status of this receive tells nothing: `bytes` are known, or untold_bytes
  bool probed : 1 = false;      // by MPI_Imrecv: its matched probe has counted it
  bool asleep : 1 = false;      // receives: kept here alone (keep_asleep); `begin`: the order of its post
  std::uint8_t unused : 2 = 0;  // all bits written: an assignment need not read the old entry
  std::uint32_t flags = 0;      // of its events
};
static_assert(sizeof(TrackedRequest) == 64);  // one line of cache

constexpr bool is_receive(RequestKind kind) {
  return kind == RequestKind::receive || kind == RequestKind::persistent_receive;
}
constexpr bool is_send(RequestKind kind) { return kind == RequestKind::send || kind == RequestKind::persistent_send; }
constexpr bool is_collective(RequestKind kind) {
  return kind == RequestKind::collective || kind == RequestKind::persistent_collective;
}
constexpr bool is_persistent(RequestKind kind) {
  return kind == RequestKind::persistent_send || kind == RequestKind::persistent_receive ||
         kind == RequestKind::persistent_collective;
}
// A request that MPI may complete.
inline bool in_flight(const TrackedRequest& r) {
  return r.kind != RequestKind::none && (!is_persistent(r.kind) || r.active);
}
inline OutstandingReceive* outstanding(const TrackedRequest& r) {
  return reinterpret_cast<OutstandingReceive*>(r.ordinal);
}

// A send or receive with a number of an earlier session: in this one it has none.
inline bool is_stale(const TrackedRequest& r) {
  return record::number_of(r.ordinal) < (is_send(r.kind) ? process.first_send : process.first_receive);
}

// Receives of the only thread, posted while nobody is attached, stand in the table of requests and nowhere else. Before
// anything else may begin they become OutstandingReceives.
[[gnu::cold]] void keep_asleep(Unrecorded& accounts);

// Learns the handles this MPI shares among complete requests. At MPI_Init, with MPI_COMM_SELF.
void learn_shared_requests();
// Constant after MPI_Init.
inline constexpr int shared_requests_limit = 3;
extern std::uint64_t shared_requests[shared_requests_limit];
inline bool is_shared_request(MPI_Request request) {
  const std::uint64_t key = key_of(request);
  return key == shared_requests[0] || key == shared_requests[1] || key == shared_requests[2];
}

// Open MPI's requests are structures of more than 128 bytes, MPICH's are numbers.
using RequestTable = StableTable<TrackedRequest, std::is_pointer_v<MPI_Request> ? 7 : 0>;
using MessageTable = StableTable<TrackedRequest, std::is_pointer_v<MPI_Message> ? 4 : 0>;
extern RequestTable tracked_requests;

// nullptr, or an entry that may be of kind `none`.
inline TrackedRequest* find_request(MPI_Request request) { return tracked_requests.find(key_of(request)); }

// The new entry of a request, whatever its handle named before. nullptr without memory.
[[gnu::cold]] TrackedRequest* add_request(MPI_Request request);

// Must the members of the communicator be known when the request completes?
inline bool needs_members(const TrackedRequest& r) {
  switch (r.kind) {
    case RequestKind::receive: return r.peer == record::any_source;
    case RequestKind::send:
    case RequestKind::collective: return false;
    default: return true;
  }
}

// Makes room in an entry whose request completed unseen: true and a copy if that was a receive.
[[gnu::cold]] bool give_up(const TrackedRequest& entry, TrackedRequest& lost);

// Remembers a request; `what.comm` is held if that is needed, else left out. When the handle still named a receive,
// that one completed unseen: it is returned in `lost` (what it held still held) with true. Without memory the request
// stays unknown.
PCLSCOPE_INLINE bool track(MPI_Request request, const TrackedRequest& what, TrackedRequest& lost) {
  TrackedRequest* entry = find_request(request);
  if (entry == nullptr) [[unlikely]] {
    entry = add_request(request);
    if (entry == nullptr) return false;
  }
  const bool receive = entry->kind != RequestKind::none && give_up(*entry, lost);
  *entry = what;
  entry->comm_id = what.comm->id;
  if (needs_members(what)) {
    hold(what.comm);
  } else {
    entry->comm = nullptr;
  }
  return receive;
}

// MPI completed it: a persistent request becomes inactive, another one's entry unused. What it held stays held.
inline void withdraw(TrackedRequest& entry) {
  if (is_persistent(entry.kind)) {
    entry.active = entry.cancelled = entry.unrecorded = entry.asleep = false;
  } else {
    entry.kind = RequestKind::none;
  }
}

// Releases what a completed request held, unless it stays in the table.
inline void finished(const TrackedRequest& request) {
  if (request.comm != nullptr && !is_persistent(request.kind)) release(request.comm);
}

// MPI_Request_free, or a handle that names something else now: always forgets it. The caller releases what it held.
bool forget(MPI_Request request, TrackedRequest& which);

// Matched probes: the message until MPI_Mrecv or MPI_Imrecv takes it. `what.comm` is not held: peer and tag are known.
void track_message(MPI_Message message, const TrackedRequest& what);
bool take_message(MPI_Message message, TrackedRequest& what);

}  // namespace pclscope
