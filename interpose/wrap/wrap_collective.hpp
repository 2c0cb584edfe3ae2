// Collectives. Every recorded one, blocking or not, takes the next number of its communicator when it is posted:
// MPI demands the same order on all members, so equal numbers are the same operation.
#pragma once

#include <string_view>

#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/collective_bytes.hpp"

namespace pclscope {

inline constexpr int no_root = MPI_ANY_SOURCE;  // recorded as peer any_source

// In these a rank waits for lower ones of the communicator: the event has its own rank there in place of a root.
constexpr bool is_prefix(Function f) {
  const std::string_view name = record::function_name(static_cast<std::uint16_t>(f));
  return name.find("scan") != std::string_view::npos || name.find("Scan") != std::string_view::npos;
}
template <Function F>
std::int32_t root_or_rank(const Communicator& c, std::int32_t root) {
  constexpr bool prefix = is_prefix(F);
  return prefix ? c.rank : root;
}

// MPI refused the arguments: this rank took no part, and may call again with better ones under the same number. After
// any other error (a message that is too long, say) the others have counted this collective, and so do we.
[[gnu::noinline, gnu::cold]] inline void give_number_back(Communicator& c, int result) {
  if (refused_arguments(result)) add_to<std::uint64_t>(c.collectives, ~std::uint64_t{0});
}

template <Function F, class Call, class Bytes>
int wrap_collective(Caller caller, MPI_Comm comm, int root, Call real_call, Bytes bytes) {
  comm = app_comm(comm);
  if (Recorder* sleeper = lone_sleeper()) {
    Communicator& c = sleeper->communicator(comm);
    add_to<std::uint64_t>(c.collectives, 1);
    const int result = real_call(comm);
    if (result != MPI_SUCCESS) give_number_back(c, result);
    return result;
  }
  Recorder* r = tracking_recorder();
  if (r == nullptr) [[unlikely]]
    return real_call(comm);
  const CallEnd end(r);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(root);
  const std::uint64_t ordinal = add_to<std::uint64_t>(c.collectives, 1);
  CallScope call(*r, F, caller, c.id, peer, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) [[unlikely]] {
    give_number_back(c, result);
    return result;
  }
  if (call.quiet) [[unlikely]] {
    r->missed(1);
  } else {
    call.record(EventKind::collective, c.id, bytes(*r, c), ordinal, root_or_rank<F>(c, peer), record::any_tag, c.flags);
  }
  return result;
}

template <Function F, class Call, class Bytes>
int wrap_icollective(Caller caller, MPI_Comm comm, int root, MPI_Request* request, Call real_call, Bytes bytes) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) [[unlikely]]
    return real_call(comm);
  const CallEnd end(r);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(root);
  const std::uint64_t ordinal = add_to<std::uint64_t>(c.collectives, 1);
  CallScope call(*r, F, caller, c.id, peer, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) [[unlikely]] {
    give_number_back(c, result);
    r->posted_collective(c);
    return result;
  }
  r->posted_collective(c);
  if (call.quiet) [[unlikely]] {
    r->missed(1);
    track_nothing(call, *request);
    return result;
  }
  const std::uint32_t flags = flag::nonblocking | c.flags;
  const std::uint64_t given = bytes(*r, c);
  if (is_shared_request(*request) || *request == handles.request_null) {  // complete already
    call.record(EventKind::collective, c.id, given, ordinal, root_or_rank<F>(c, peer), record::any_tag, flags);
    return result;
  }
  track_request(call, *request,
                {.comm = &c,
                 .ordinal = ordinal,
                 .begin = call.begin,
                 .bytes = given,
                 .site = call.site,
                 .peer = root_or_rank<F>(c, peer),
                 .tag = record::any_tag,
                 .function = F,
                 .kind = RequestKind::collective,
                 .active = true,
                 .flags = flags});
  return result;
}

// A persistent collective: numbered at every start, with the function that made it and the call site of the start.
template <Function F, class Call, class Bytes>
int wrap_collective_init(Caller caller, MPI_Comm comm, int root, MPI_Request* request, Call real_call, Bytes bytes) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_call(comm);
  const CallEnd end(r);
  Communicator& c = r->communicator(comm);
  const std::int32_t peer = c.peer(root);
  CallScope call(*r, F, caller, c.id, peer, record::any_tag);
  const int result = real_call(comm);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  const std::uint64_t given = bytes(*r, c);
  const std::uint32_t flags = flag::persistent | c.flags;
  call.record(EventKind::call, c.id, given, 0, peer, record::any_tag, flags);
  track_request(call, *request,
                {.comm = &c,
                 .ordinal = 0,
                 .begin = 0,
                 .bytes = given,
                 .site = call.site,
                 .peer = root_or_rank<F>(c, peer),
                 .tag = record::any_tag,
                 .function = F,
                 .kind = RequestKind::persistent_collective,
                 .active = false,
                 .flags = flags | flag::nonblocking});
  return result;
}

}  // namespace pclscope
