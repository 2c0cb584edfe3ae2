// The functions that wrap_world.cpp handles one by one, called from Fortran: hand_X(caller, library call, arguments).
#pragma once

#include <strings.h>

#include "interpose/fortran/arguments.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/wrap/wrap_control.hpp"
#include "interpose/wrap/wrap_session.hpp"
#include "interpose/wrap/wrap_world.hpp"

namespace pclscope::fortran {

template <class Library>
int initialise(Function function, Caller caller, Library& library) {
  if (take_world_of_sessions()) [[unlikely]]
    return MPI_SUCCESS;
  int already = 0;
  real.Initialized(&already);
  if (already != 0) return library();  // an error of the application: MPI's to tell
  announce_init();
  const std::uint64_t begin = now();
  const int result = library();
  if (result == MPI_SUCCESS) begin_record(function, caller, begin);
  return result;
}

template <class Library>
int hand_Init(Caller caller, Library& library) {
  return initialise(Function::Init, caller, library);
}

template <class Library, class Required, class Provided>
int hand_Init_thread(Caller caller, Library& library, Required&, Provided& provided) {
  if (take_world_of_sessions()) [[unlikely]]
    return real.Query_thread(provided.c());
  return initialise(Function::Init_thread, caller, library);
}

// MPI that runs for sessions only: the program has not called MPI_Init.
template <class Library, class Flag>
int hand_Initialized(Caller, Library& library, Flag& flag) {
  const int result = library();
  if (process.session_world == WorldOfSessions::ours && result == MPI_SUCCESS) *flag.c() = 0;
  return result;
}
template <class Library, class Flag>
int hand_Finalized(Caller caller, Library& library, Flag& flag) {
  return hand_Initialized(caller, library, flag);
}

template <class Library>
int hand_Finalize(Caller caller, Library& library) {
  announce_finalize(Function::Finalize, caller);
  return library();
}

template <class Library, class Code>
int hand_Abort(Caller, Library& library, CommValue& comm, Code&) {
  if (process.known) count_on_board(&record::Board::aborting);
  if (is_world(comm.c())) comm.use(process.real_world);
  return library();
}

// MPICH's predefined keys are one higher in Fortran than in C.
template <class Keyval>
int c_keyval(const Keyval& keyval) {
#ifdef OPEN_MPI
  return keyval.c();
#else
  return keyval.c() - 1;
#endif
}

template <class Library, class Keyval, class... Rest>
int hand_Comm_get_attr(Caller, Library& library, CommValue& comm, Keyval& keyval, Rest&...) {
  comm.use(attribute_holder(comm.c(), c_keyval(keyval)));
  return library();
}
template <class Library, class... Rest>
int hand_Attr_get(Caller caller, Library& library, Rest&... rest) {
  return hand_Comm_get_attr(caller, library, rest...);
}

template <class Library, class... Rest>
int hand_Comm_set_attr(Caller, Library& library, CommValue& comm, Rest&...) {
  process.world_attributes |= is_world(comm.c());
  comm.use(app_comm(comm.c()));
  return library();
}
template <class Library, class... Rest>
int hand_Attr_put(Caller caller, Library& library, Rest&... rest) {
  return hand_Comm_set_attr(caller, library, rest...);
}

// As in C: both worlds get the handler.
template <class Library, class Handler>
int hand_Comm_set_errhandler(Caller, Library& library, CommValue& comm, Handler& handler) {
  if (!is_world(comm.c()) || process.app_world == process.real_world) return library();
  comm.use(process.real_world);
  const int result = library();
  if (result != MPI_SUCCESS || make_world_fatal(handler.c())) return result;
  comm.use(process.app_world);
  library();
  return result;
}
template <class Library, class... Rest>
int hand_Errhandler_set(Caller caller, Library& library, Rest&... rest) {
  return hand_Comm_set_errhandler(caller, library, rest...);
}

// It has no error argument, and there is nothing in it that must be told in Fortran.
template <class Library, class Level>
int hand_Pcontrol(Caller caller, Library&, Level& level) {
  return ::pclscope::hand_Pcontrol(caller, level.c());
}

#if MPI_VERSION >= 4

template <class Library, class... Rest>
int hand_Session_init(Caller caller, Library& library, Rest&...) {
  return begin_session(caller, library);
}

template <class Library, class Session>
int hand_Session_finalize(Caller caller, Library& library, Session&) {
  return end_session(caller, library);
}

// `name` is a Fortran text: as long as it is, blanks behind.
inline bool has_tool_ranks(const Opaque& name) {
  return process.known && options().tool_ranks > 0 &&
         strncasecmp(static_cast<const char*>(name.pointer), "mpi://WORLD", 11) == 0;
}

template <class Library, class Session>
int hand_Group_from_session_pset(Caller, Library& library, Session&, Opaque& name, HandleMade<MPI_Group>& group) {
  const int result = library();
  if (result != MPI_SUCCESS || !has_tool_ranks(name)) return result;
  leave_tool_ranks_out(group.c());
  *static_cast<MPI_Fint*>(group.pointer) = group.handle;
  return result;
}

template <class Library, class Session>
int hand_Session_get_pset_info(Caller, Library& library, Session&, Opaque& name, HandleMade<MPI_Info>& info) {
  const int result = library();
  if (result == MPI_SUCCESS && has_tool_ranks(name)) tell_application_size(info.handle);
  return result;
}

#endif

template <class Library, class Type>
int hand_Type_free(Caller, Library& library, Type&) {
  const int result = library();
  process.handles_epoch.fetch_add(1, std::memory_order_relaxed);
  return result;
}

}  // namespace pclscope::fortran
