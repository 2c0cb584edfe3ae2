// Inside the library: what library.cpp and MPI_Init do in a real process, without an MPI library.
#include "tests/explore/explored_rank.hpp"

#include "interpose/library/library.hpp"
#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/recorder/agreement.hpp"
#include "interpose/recorder/communicators.hpp"
#include "interpose/recorder/recorder.hpp"
#include "interpose/recorder/requests.hpp"
#include "real_functions.hpp"
#include "tests/explore/fake_handles.hpp"

namespace pclscope {

void pass_everything_through() {}
void* find_fortran_routine(const char*) { return nullptr; }
const char* library_version() { return "simulated"; }

}  // namespace pclscope

namespace {

using namespace pclscope;

int missing() { return MPI_ERR_OTHER; }

bool set_up(const explore::RankSetUp& how) {
  auto** functions = reinterpret_cast<void**>(&real);
  for (int i = 0; i < real_count; ++i) {
    functions[i] = how.simulated(real_names[i]);
    if (functions[i] == nullptr) functions[i] = reinterpret_cast<void*>(&missing);
  }
  handles = {explore::world_handle(), explore::fake<MPI_Comm>(2),    explore::fake<MPI_Comm>(3),
             explore::request_of(0),  explore::fake<MPI_Message>(4), explore::byte_handle()};
  auto& o = const_cast<Options&>(options());
  adopt_token(how.token);
  o.ranks = how.size;
  o.tool_ranks = how.attachable ? 0 : 1;
  o.ring_events = how.ring_events;
  o.ring_limit = how.ring_limit;
  o.stacks = 0;
  o.wait_when_full = false;
  clock_source = record::ClockSource::tsc;
  process.real_world = process.app_world = handles.world;
  if (open_board() == nullptr) return false;
  process.attachable = how.attachable;
  if (how.attachable) process.session = session_word();
  process.rank = how.rank;
  process.size = how.size;
  process.multiple = how.threads;
  process.checked = how.threads || how.attachable;
  process.known = true;
  return start_communicators();
}

bool begin() {
  if (!start_recording()) return false;
  if (process.attachable) return true;
  const std::uint64_t t = now();
  recorder()->write(EventKind::init, Function::Init, t, t, 0, 0, 0, 0, process.rank, record::any_tag, 0);
  return true;
}

// As announce_finalize(), but the board's file stays for the next schedule.
void end() {
  if (Recorder* r = last_recorder()) {
    const std::uint64_t t = now();
    r->write(EventKind::finalize, Function::Finalize, t, t, 0, 0, 0, 0, process.rank, record::any_tag, 0);
  }
  stop_recording();
  count_on_board(&record::Board::finalizing);
}

explore::ThreadState thread() { return {this_thread.recorder, this_thread.muted, this_thread.refused}; }
void set_thread(const explore::ThreadState& state) {
  this_thread.recorder = static_cast<Recorder*>(state.recorder);
  this_thread.muted = static_cast<Recorder*>(state.muted);
  this_thread.refused = state.refused;
}

void* wrapper(const char* name) {
  for (int i = 0; i < slot_count; ++i) {
    if (strcmp(real_names[slot_entries[i].real_index], name) == 0) return slot_entries[i].wrapper;
  }
  return nullptr;
}

constexpr explore::ExploredRank offered = {set_up, begin, end, thread, set_thread, wrapper};

}  // namespace

extern "C" __attribute__((visibility("default"))) const explore::ExploredRank* explored_rank() { return &offered; }
