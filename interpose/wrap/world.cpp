#include "interpose/wrap/world.hpp"

#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/recorder/agreement.hpp"
#include "interpose/recorder/announcement.hpp"
#include "interpose/recorder/communicators.hpp"
#include "interpose/recorder/requests.hpp"
#include "interpose/wrap/wrap_world.hpp"
#include "real_functions.hpp"

namespace pclscope {

namespace {

// bytes_in() reads the status by its public fields: does this library agree, with a count beyond 32 bits?
bool confirm_status_layout() {
  constexpr MPI_Count count = (MPI_Count{5} << 32) + 12345;
  MPI_Status status = {};
  return real.Status_set_elements_x(&status, handles.byte, count) == MPI_SUCCESS && bytes_in(status) == count;
}

bool is_spawned() {
  MPI_Comm parent = handles.comm_null;
  return real.Comm_get_parent(&parent) == MPI_SUCCESS && parent != handles.comm_null;
}

// MPI_Finalize deletes the attributes of MPI_COMM_WORLD, which calls the application's functions; nobody does that for
// the communicator that stands for it. It begins with those of MPI_COMM_SELF, last set first: ours was set first, so
// all functions of the application there have been called, with the world still in place.
int end_world(MPI_Comm, int, void*, void*) {
  if (process.world_attributes) {
    MPI_Comm world = process.app_world;
    real.Comm_free(&world);
    process.app_world = process.real_world;
  }
  return MPI_SUCCESS;
}
int copy_nothing(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}

void watch_finalize() {
  int keyval = MPI_KEYVAL_INVALID;
  if (real.Comm_create_keyval(copy_nothing, end_world, &keyval, nullptr) == MPI_SUCCESS)
    real.Comm_set_attr(handles.self, keyval, nullptr);
}

// A world of the application's ranks only. The tool's ranks take no part in making it.
bool hide_tool_ranks(int ranks) {
  MPI_Group all, application;
  int range[1][3] = {{0, ranks - 1, 1}};
  if (real.Comm_group(handles.world, &all) != MPI_SUCCESS) return false;
  bool made = false;
  if (real.Group_range_incl(all, 1, range, &application) == MPI_SUCCESS) {
    made = real.Comm_create_group(handles.world, application, 0, &process.app_world) == MPI_SUCCESS;
    real.Group_free(&application);
  }
  real.Group_free(&all);
  if (!made) {
    process.app_world = handles.world;
    return false;
  }
  watch_finalize();
  real.Comm_set_name(process.app_world, "MPI_COMM_WORLD");
  MPI_Errhandler handler;
  if (real.Comm_get_errhandler(handles.world, &handler) == MPI_SUCCESS) {
    if (!make_world_fatal(handler)) real.Comm_set_errhandler(process.app_world, handler);
    real.Errhandler_free(&handler);
  }
  return true;
}

bool know_world(int rank, int size, bool thread_multiple) {
  process.rank = rank;
  process.size = size;
  process.multiple = thread_multiple;
  process.checked = thread_multiple || process.attachable;
  if (!start_communicators()) return false;
  learn_shared_requests();
  process.known = true;
  return true;
}

}  // namespace

bool enter_world(bool thread_multiple) {
  const Options& o = options();
  process.real_world = process.app_world = handles.world;
  if (!o.job) return false;
  if (is_spawned()) {
    uncount_on_board(&record::Board::initializing);  // the tool's ranks wait for those of the job only
    return false;
  }
  int size = 0, rank = 0;
  real.Comm_size(handles.world, &size);
  real.Comm_rank(handles.world, &rank);
  if (size != o.ranks + o.tool_ranks) {
    if (size > 1 && rank == 0 && first_to_say(record::said_wrong_world))
      say("pclscope: this program has %d ranks instead of %d: nothing is recorded; start it once per rank\n", size,
          o.ranks + o.tool_ranks);
    return false;
  }
  if (rank >= o.ranks) return false;  // a rank of the tool itself
  if (!confirm_status_layout()) {
    if (rank == 0) say("pclscope: this MPI library's MPI_Status is not as in its mpi.h: messages have no sizes\n");
  }
  if (o.tool_ranks > 0 && !hide_tool_ranks(o.ranks)) {
    say("pclscope: rank %d cannot make a world without the tool's ranks: the program sees %d more\n", rank,
        o.tool_ranks);
    return false;
  }
  return know_world(rank, o.ranks, thread_multiple);
}

bool enter_own_world(bool thread_multiple) {
  if (options().off || is_spawned()) return false;
  int size = 0, rank = 0;
  real.Comm_size(handles.world, &size);
  real.Comm_rank(handles.world, &rank);
  Agreement agreed;
  if (!agree(rank, size, agreed) || !confirm_status_layout() || !appear(agreed, size)) return false;
  process.session = session_word();
  process.attachable = true;
  if (rank == 0) announce_elsewhere(agreed, size);
  return know_world(rank, size, thread_multiple);
}

}  // namespace pclscope
