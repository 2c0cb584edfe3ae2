// MPI 4 sessions: a program may use MPI without MPI_Init. The tool's ranks can be hidden only in an MPI_COMM_WORLD (and
// MPICH 4.0 makes communicators for sessions out of that), so before the first session of a program that has not called
// MPI_Init the library calls it, and MPI_Finalize after the last one; MPI_Initialized and MPI_Finalized do not tell. A
// later MPI_Init of the program finds it done. The record begins and ends with the first and last use of MPI.
// The sets of processes that sessions offer are cut down to the application's ranks.
#pragma once

#include "interpose/wrap/wrap_world.hpp"

#if MPI_VERSION >= 4

namespace pclscope {

int hand_Session_init(Caller caller, MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
int hand_Session_finalize(Caller caller, MPI_Session* session);
int hand_Group_from_session_pset(Caller caller, MPI_Session session, const char* name, MPI_Group* group);
int hand_Session_get_pset_info(Caller caller, MPI_Session session, const char* name, MPI_Info* info);

// Their parts, for the Fortran shims (fortran/hand.hpp).
void begin_world(Caller caller);
void end_world_of_sessions();

template <class Call>
int begin_session(Caller caller, Call& real_init) {
  if (!process.known) begin_world(caller);
  const int result = real_init();
  if (result == MPI_SUCCESS) process.sessions.fetch_add(1);
  return result;
}

template <class Call>
int end_session(Caller caller, Call& real_finalize) {
  const bool last = process.sessions.fetch_sub(1) == 1;
  if (last) announce_finalize(Function::Session_finalize, caller);
  const int result = real_finalize();
  if (last) end_world_of_sessions();
  return result;
}

void leave_tool_ranks_out(MPI_Group* group);
void tell_application_size(MPI_Info info);

}  // namespace pclscope

#endif
