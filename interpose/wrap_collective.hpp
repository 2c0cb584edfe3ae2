// Collectives. Every recorded one, blocking or not, takes the next number of its communicator when it is posted:
// MPI demands the same order on all members, so equal numbers are the same operation.
#pragma once

#include "interpose/call_scope.hpp"
#include "interpose/collective_bytes.hpp"

namespace pclscope {

inline constexpr int no_root = MPI_ANY_SOURCE;  // recorded as peer any_source

template <Function F, class Call, class Bytes>
int wrap_collective(Site site, MPI_Comm comm, int root, Call real_call, Bytes bytes) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_call(comm);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(root);
  const std::uint64_t ordinal = add_to<std::uint64_t>(c.collectives, 1);
  CallScope call(*r, F, site, c.id, peer, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result == MPI_SUCCESS)
    call.record(EventKind::collective, c.id, bytes(*r, c), ordinal, peer, record::any_tag, c.flags);
  return result;
}

template <Function F, class Call, class Bytes>
int wrap_icollective(Site site, MPI_Comm comm, int root, MPI_Request* request, Call real_call, Bytes bytes) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) [[unlikely]] return real_call(comm);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(root);
  const std::uint64_t ordinal = add_to<std::uint64_t>(c.collectives, 1);
  CallScope call(*r, F, site, c.id, peer, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::uint32_t flags = flag::nonblocking | c.flags;
  const std::uint64_t given = bytes(*r, c);
  if (is_shared_request(*request) || *request == handles.request_null) {  // complete already
    call.record(EventKind::collective, c.id, given, ordinal, peer, record::any_tag, flags);
    return result;
  }
  track_request(call, *request,
                {.key = 0, .comm = &c, .ordinal = ordinal, .begin = call.begin, .bytes = given, .site = site,
                 .peer = peer, .tag = record::any_tag, .function = F, .kind = RequestKind::collective, .active = true,
                 .cancelled = false, .flags = flags});
  return result;
}

}  // namespace pclscope
