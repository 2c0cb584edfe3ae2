#include "interpose/wrap/wrap_world.hpp"

#include <stdlib.h>

#include "interpose/library/finalize_progress.hpp"
#include "interpose/library/library.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/process/own_time.hpp"
#include "interpose/recorder/agreement.hpp"
#include "interpose/recorder/announcement.hpp"
#include "interpose/wrap/call_scope.hpp"
#include "interpose/wrap/world.hpp"

namespace pclscope {

// MPI_COMM_WORLD before MPI_Init replaced it, in either guise.
bool is_world(MPI_Comm comm) { return comm == process.real_world || comm == process.app_world; }

// What the process exits with. Launchers report the status of whoever goes first, which is to be the tool's rank.
static int exit_status = 0;
static void note_exit_status(int status, void*) { exit_status = status & 0xff; }

// ns until MPI_Init was called; 0: not known.
static std::uint64_t own_before_init = 0;

// MPI is up: are we in a job, and where? Writes the first event.
void begin_record(Function function, Caller caller, std::uint64_t begin) {
  int provided = MPI_THREAD_SINGLE;
  real.Query_thread(&provided);
  const bool multiple = provided == MPI_THREAD_MULTIPLE;
  if (!enter_world(multiple) && (process.session_world == WorldOfSessions::ours || !enter_own_world(multiple))) {
    pass_everything_through();
    return;
  }
  if (!start_recording()) return;  // said why; the tool's ranks stay hidden
  if (process.attachable) return;
  recorder()->write(EventKind::init, function, begin, now(), caller.address(), 0, 0, own_before_init, process.rank,
                    record::any_tag, 0);
  if (options().tool_ranks > 0) on_exit(note_exit_status, nullptr);
}

void announce_init() {
  own_before_init = own_time_ns();
  process.real_world = process.app_world = handles.world;
  clock_source = record::choose_clock(options().clock);
  if (record::Board* b = open_board()) {
    std::uint64_t nobody = 0;
    b->first_init.compare_exchange_strong(nobody, now());  // before the begin of our own MPI_Init, on any core
  }
  count_on_board(&record::Board::initializing);
}

namespace {

template <class Call>
int initialise(Function function, Caller caller, Call real_init) {
  int already = 0;
  real.Initialized(&already);
  if (already != 0) return real_init();  // an error of the application: MPI's to tell
  announce_init();
  const std::uint64_t begin = now();
  const int result = real_init();
  if (result == MPI_SUCCESS) begin_record(function, caller, begin);
  return result;
}

// Attributes that MPI itself put on MPI_COMM_WORLD: the application's world has none of them.
bool is_predefined(int keyval) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_HOST:
    case MPI_IO:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_UNIVERSE_SIZE:
    case MPI_APPNUM:
    case MPI_LASTUSEDCODE: return true;
    default: return false;
  }
}

}  // namespace

MPI_Comm attribute_holder(MPI_Comm comm, int keyval) {
  return is_world(comm) && is_predefined(keyval) ? process.real_world : app_comm(comm);
}

#ifndef OPEN_MPI
static void end_real_world(MPI_Comm*, int* code, ...) { real.Comm_call_errhandler(process.real_world, *code); }
#endif

// MPICH 4.0 ends a job from within an error of MPI_COMM_WORLD, and of a communicator that was never given a handler,
// but hangs when any other was given MPI_ERRORS_ARE_FATAL. So the application's world is not: it stays without, or
// passes its errors on to the real world.
bool make_world_fatal([[maybe_unused]] MPI_Errhandler handler) {
#ifdef OPEN_MPI
  return false;
#else
  static bool untouched = true;
  if (handler != MPI_ERRORS_ARE_FATAL) {
    untouched = false;
    return false;
  }
  MPI_Errhandler passing;
  if (!untouched && real.Comm_create_errhandler(end_real_world, &passing) == MPI_SUCCESS) {
    real.Comm_set_errhandler(process.app_world, passing);
    real.Errhandler_free(&passing);
  }
  return true;
#endif
}

namespace {

template <class Real>
int set_attribute(Real real_set, MPI_Comm comm, int keyval, void* value) {
  process.world_attributes |= is_world(comm);
  return real_set(app_comm(comm), keyval, value);
}

// Errors without a communicator go to the real world's handler: both worlds have the same one.
template <class Real>
int set_errhandler(Real real_set, MPI_Comm comm, MPI_Errhandler handler) {
  if (!is_world(comm) || process.app_world == process.real_world) return real_set(comm, handler);
  const int result = real_set(process.real_world, handler);
  if (result == MPI_SUCCESS && !make_world_fatal(handler)) real_set(process.app_world, handler);
  return result;
}

}  // namespace

bool take_world_of_sessions() {
  if (process.session_world != WorldOfSessions::ours) return false;
  process.session_world = WorldOfSessions::taken;
  return true;
}

int hand_Initialized(Caller, int* flag) {
  const int result = real.Initialized(flag);
  if (process.session_world == WorldOfSessions::ours && result == MPI_SUCCESS) *flag = 0;
  return result;
}

int hand_Finalized(Caller, int* flag) {
  const int result = real.Finalized(flag);
  if (process.session_world == WorldOfSessions::ours && result == MPI_SUCCESS) *flag = 0;
  return result;
}

int hand_Init(Caller caller, int* argc, char*** argv) {
  if (take_world_of_sessions()) [[unlikely]]
    return MPI_SUCCESS;
  return initialise(Function::Init, caller, [&] { return real.Init(argc, argv); });
}

int hand_Init_thread(Caller caller, int* argc, char*** argv, int required, int* provided) {
  if (take_world_of_sessions()) [[unlikely]]
    return real.Query_thread(provided);
  return initialise(Function::Init_thread, caller, [&] { return real.Init_thread(argc, argv, required, provided); });
}

// MPI is used until MPI_Finalize and the last MPI_Session_finalize.
static bool is_last_use(Function function) {
  if (process.sessions.load() > 0) return false;
  if (function == Function::Finalize || process.session_world == WorldOfSessions::ours) return true;
  int finalized = 0;
  real.Finalized(&finalized);
  return finalized != 0;
}

// The record ends before MPI_Finalize runs: what the application's callbacks do in there is not recorded, but the
// tool's ranks stay hidden from them. The application's world ends in there (world.cpp).
void announce_finalize(Function function, Caller caller) {
  if (!process.known || !is_last_use(function)) return;
  if (Recorder* r = last_recorder()) {
    const std::uint64_t t = now();
    if (r->session() != 0) r->measure_processor(t);
    r->write(EventKind::finalize, function, t, t, caller.address(), 0, 0, 0, process.rank, record::any_tag, 0);
  }
  stop_recording();
  count_on_board(&record::Board::finalizing);
  if (!process.attachable) return;
  disappear();
  withdraw_elsewhere();
}

// The program exits without MPI_Finalize. Launchers end a job at the first process that does: the tool's rank goes
// before (anchor.cpp), or its being killed would become the job's status. After the program's own exit handlers; not in
// forked children, nor where `_exit` or a signal ends the process. Up to 0.1 s, when other ranks stay.
[[gnu::destructor]] static void announce_exit() {
  if (!process.recording) return;
  leave_recording();
  if (record::Board* b = open_board(); b && exit_status != 0)
    b->exit_status.store(static_cast<std::uint32_t>(exit_status));
  count_on_board(&record::Board::leaving);
  if (options().tool_ranks > 0) wait_on_board(&record::Board::parted, 100);
}

int hand_Finalize(Caller caller) {
  announce_finalize(Function::Finalize, caller);
  const FinalizeProgress progress;
  return real.Finalize();
}

// MPI_Abort of the application's world must end the tool's ranks too. Who called it shows in the slot of current calls:
// it does not return. May be called in a signal handler: nothing is made or looked up for that.
int hand_Abort(Caller caller, MPI_Comm comm, int code) {
  if (Recorder* r = this_thread.recorder) r->enter(now(), Function::Abort, caller.address(), 0, -1, record::any_tag);
  if (process.known) count_on_board(&record::Board::aborting);
  return real.Abort(is_world(comm) ? process.real_world : comm, code);
}

int hand_Comm_get_attr(Caller, MPI_Comm comm, int keyval, void* value, int* found) {
  return real.Comm_get_attr(attribute_holder(comm, keyval), keyval, value, found);
}

int hand_Attr_get(Caller, MPI_Comm comm, int keyval, void* value, int* found) {
  return real.Attr_get(attribute_holder(comm, keyval), keyval, value, found);
}

int hand_Comm_set_attr(Caller, MPI_Comm comm, int keyval, void* value) {
  return set_attribute(real.Comm_set_attr, comm, keyval, value);
}

int hand_Attr_put(Caller, MPI_Comm comm, int keyval, void* value) {
  return set_attribute(real.Attr_put, comm, keyval, value);
}

int hand_Comm_set_errhandler(Caller, MPI_Comm comm, MPI_Errhandler handler) {
  return set_errhandler(real.Comm_set_errhandler, comm, handler);
}

int hand_Errhandler_set(Caller, MPI_Comm comm, MPI_Errhandler handler) {
  return set_errhandler(real.Errhandler_set, comm, handler);
}

// The handle may come back as another type of another size.
int hand_Type_free(Caller, MPI_Datatype* type) {
  const int result = real.Type_free(type);
  process.handles_epoch.fetch_add(1, std::memory_order_relaxed);
  return result;
}

}  // namespace pclscope
