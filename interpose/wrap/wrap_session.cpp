#include "interpose/wrap/wrap_session.hpp"

#include <stdio.h>
#include <strings.h>

#include "interpose/library/finalize_progress.hpp"
#include "interpose/process/options.hpp"
#include "real_functions.hpp"

#if MPI_VERSION >= 4

namespace pclscope {

namespace {

// Is this the set of all processes, with the tool's among them? (The other predefined one, mpi://SELF, has none.)
bool has_tool_ranks(const char* name) {
  return process.known && options().tool_ranks > 0 && strcasecmp(name, "mpi://WORLD") == 0;
}

}  // namespace

// As if the program had called MPI_Init: see wrap_session.hpp.
void begin_world(Caller caller) {
  int already = 0, provided = MPI_THREAD_SINGLE;
  real.Initialized(&already);
  if (already != 0 || !options().job) return;
  announce_init();
  const std::uint64_t begin = now();
  // What sessions give a program that asks for nothing.
  if (real.Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS) return;
  process.session_world = WorldOfSessions::ours;
  begin_record(Function::Session_init, caller, begin);
}

void end_world_of_sessions() {
  if (process.session_world == WorldOfSessions::ours) real.Finalize();
}

void leave_tool_ranks_out(MPI_Group* group) {
  int range[1][3] = {{0, process.size - 1, 1}};
  MPI_Group all = *group;
  if (real.Group_range_incl(all, 1, range, group) == MPI_SUCCESS) {
    real.Group_free(&all);
  } else {
    *group = all;
  }
}

void tell_application_size(MPI_Info info) {
  char size[16];
  snprintf(size, sizeof size, "%d", process.size);
  real.Info_set(info, "mpi_size", size);
}

int hand_Session_init(Caller caller, MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const auto call = [&] { return real.Session_init(info, handler, session); };
  return begin_session(caller, call);
}

int hand_Session_finalize(Caller caller, MPI_Session* session) {
  const FinalizeProgress progress;
  const auto call = [&] { return real.Session_finalize(session); };
  return end_session(caller, call);
}

int hand_Group_from_session_pset(Caller, MPI_Session session, const char* name, MPI_Group* group) {
  const int result = real.Group_from_session_pset(session, name, group);
  if (result == MPI_SUCCESS && has_tool_ranks(name)) leave_tool_ranks_out(group);
  return result;
}

int hand_Session_get_pset_info(Caller, MPI_Session session, const char* name, MPI_Info* info) {
  const int result = real.Session_get_pset_info(session, name, info);
  if (result == MPI_SUCCESS && has_tool_ranks(name)) tell_application_size(*info);
  return result;
}

}  // namespace pclscope

#endif
