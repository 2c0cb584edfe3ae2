// The one shape of every recorded wrapper:
//
//   comm = app_comm(comm);                         hide the tool's ranks
//   Recorder* r = recorder();
//   if (r == nullptr) return real...;              nothing to record
//   CallScope call(*r, F, site, comm id, peer, tag);   time stamp, current-call slot
//   const int result = real...;
//   call.returned();                               time stamp
//   if (result == MPI_SUCCESS) call.record(...);   events, in the order of FORMAT.md
//   return result;
#pragma once

#include "interpose/recorder.hpp"
#include "interpose/requests.hpp"
#include "real_functions.hpp"

namespace pclscope {

struct CallScope {
  Recorder& recorder;
  const Function function;
  const Site site;
  const std::uint64_t begin;
  std::uint64_t end = 0;

  PCLSCOPE_INLINE CallScope(Recorder& r, Function f, Site s, std::uint64_t comm, std::int32_t peer, std::int32_t tag)
      : recorder(r), function(f), site(s), begin(now()) {
    r.enter(begin, f, s, comm, peer, tag);
  }

  PCLSCOPE_INLINE void returned() {
    end = now();
    recorder.leave();
  }

  PCLSCOPE_INLINE void record(EventKind kind, std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal,
                              std::int32_t peer, std::int32_t tag, std::uint32_t flags) {
    recorder.write(kind, function, begin, end, site, comm, bytes, ordinal, peer, tag, flags);
  }
};

// MPI_SUCCESS, or a truncated message: the receive took its message all the same.
inline bool took_message(int result) {
  if (result == MPI_SUCCESS) [[likely]] return true;
  int error_class = MPI_ERR_OTHER;
  return real.Error_class(result, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}
inline std::uint32_t failure_flags(int result) {
  return result == MPI_SUCCESS ? 0 : flag::failed | flag::truncated;
}

// Ends a receive that was posted with `ordinal`: resolved by its status, or, when MPI refused it, as one that took
// nothing, so that the numbers of posted receives stay without gaps.
PCLSCOPE_INLINE void record_received(CallScope& call, const Communicator& c, const MPI_Status& status, int result,
                                     std::uint64_t ordinal, std::uint32_t flags) {
  if (took_message(result)) [[likely]] {
    call.record(EventKind::recv_done, c.id, bytes_in(status), ordinal, c.peer(status.MPI_SOURCE),
                tag_of(status.MPI_TAG), flags | c.flags | failure_flags(result));
  } else {
    call.record(EventKind::recv_cancelled, c.id, 0, ordinal, record::unknown_rank, record::any_tag,
                flags | c.flags | flag::failed);
  }
}

// Remembers a request made by `call`.
inline void track_request(CallScope& call, MPI_Request request, const TrackedRequest& what) {
  TrackedRequest lost;
  if (!track(request, what, lost)) [[likely]] return;
  call.record(EventKind::recv_freed, lost.comm->id, 0, lost.ordinal, lost.peer, lost.tag, lost.flags);
  release(lost.comm);
}

}  // namespace pclscope
