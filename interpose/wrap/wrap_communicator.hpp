// Creation and release of communicators, and other calls that are recorded as intervals only.
#pragma once

#include "interpose/wrap/call_scope.hpp"

namespace pclscope {

inline std::uint64_t members_of(const Communicator& c) {
  return c.local_count + ((c.flags & flag::intercomm) != 0 ? c.peer_count : 0);
}

template <Function F, Origin From, class Call>
int wrap_creates(Caller caller, MPI_Comm parent, MPI_Comm* made, Call real_call) {
  if (!process.known) return real_call();
  Communicator* p = nullptr;
  if constexpr (From != Origin::orphan) p = &find_communicator(app_comm(parent));
  Recorder* r = tracking_recorder();
  if (r == nullptr) {  // known all the same: recording may come back
    const int result = real_call();
    if (result == MPI_SUCCESS && *made != handles.comm_null) register_communicator(*made, p, From);
    return result;
  }
  const CallEnd end(r);
  const std::uint64_t parent_id = p != nullptr ? p->id : 0;
  CallScope call(*r, F, caller, parent_id, record::any_source, record::any_tag);
  const int result = real_call();
  call.returned();
  if (result != MPI_SUCCESS) return result;
  if (*made == handles.comm_null) {
    call.record(EventKind::call, parent_id, 0, 0, record::any_source, record::any_tag, 0);
    return result;
  }
  const Communicator& c = register_communicator(*made, p, From);
  call.record(EventKind::comm_created, c.id, members_of(c), parent_id, 0, record::any_tag, c.flags);
  return result;
}

template <Function F, class Real, class... Info>
int idup(Caller caller, Real real_call, MPI_Comm comm, MPI_Comm* made, MPI_Request* request, Info... info) {
  comm = app_comm(comm);
  Recorder* r = tracking_recorder();
  if (r == nullptr) return real_call(comm, info..., made, request);
  Communicator& c = r->communicator(comm);
  CallScope call(*r, F, caller, c.id, record::any_source, record::any_tag);
  const int result = real_call(comm, info..., made, request);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  track_request(call, *request,
                {.comm = &c,
                 .ordinal = reserve_dup_id(c),
                 .begin = call.begin,
                 .bytes = reinterpret_cast<std::uint64_t>(made),
                 .site = call.site,
                 .peer = 0,
                 .tag = record::any_tag,
                 .function = F,
                 .kind = RequestKind::comm_dup,
                 .active = true,
                 .flags = flag::nonblocking | c.flags});
  return result;
}

template <Function F, class Real>
int wrap_idup(Caller caller, Real real_call, MPI_Comm comm, MPI_Comm* made, MPI_Request* request) {
  return idup<F>(caller, real_call, comm, made, request);
}

template <Function F, class Real>
int wrap_idup(Caller caller, Real real_call, MPI_Comm comm, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  return idup<F>(caller, real_call, comm, made, request, info);
}

// The world itself cannot be freed: MPI says so to the application as it would without us.
template <Function F, class Real>
int wrap_frees(Caller caller, Real real_free, MPI_Comm* comm) {
  if (!process.known || *comm == process.real_world) return real_free(comm);
  const MPI_Comm freed = *comm;
  Recorder* r = tracking_recorder();
  if (r == nullptr) {
    const int result = real_free(comm);
    if (result == MPI_SUCCESS) forget_communicator(freed);
    return result;
  }
  const CallEnd end(r);
  const std::uint64_t id = find_communicator(freed).id;
  CallScope call(*r, F, caller, id, record::any_source, record::any_tag);
  const int result = real_free(comm);
  call.returned();
  if (result != MPI_SUCCESS) return result;
  forget_communicator(freed);
  call.record(EventKind::comm_freed, id, 0, 0, record::any_source, record::any_tag, 0);
  return result;
}

template <Function F, class Call>
int wrap_call(Caller caller, MPI_Comm comm, Call real_call) {
  comm = app_comm(comm);
  Recorder* r = recorder();
  if (r == nullptr) return real_call();
  const Communicator& c = r->communicator(comm);
  CallScope call(*r, F, caller, c.id, record::any_source, record::any_tag);
  const int result = real_call();
  call.returned();
  if (result == MPI_SUCCESS) call.record(EventKind::call, c.id, 0, 0, record::any_source, record::any_tag, c.flags);
  return result;
}

}  // namespace pclscope
