#include "interpose/recorder/recorder.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <new>

#include "interpose/process/notice.hpp"
#include "interpose/process/options.hpp"
#include "interpose/recorder/ring_file.hpp"
#include "interpose/recorder/segments.hpp"
#include "real_functions.hpp"

namespace pclscope {

__thread ThisThread this_thread __attribute__((tls_model("initial-exec"))) = {};

namespace {

pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;  // guards the rest
constexpr std::uint32_t threads_limit = 4096;
Recorder* recorders[threads_limit];
bool idle[threads_limit];  // its thread ended: the next new thread continues this ring
std::uint32_t thread_count = 0;
std::uint32_t left_session = 0;  // the last one that the process left
pthread_key_t thread_end;

void give_up_thread(void* value) {
  this_thread.leave();  // MPI calls in destructors of thread-local objects are not recorded
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    if (recorders[i] == value) idle[i] = true;
  }
  pthread_mutex_unlock(&threads_lock);
}

// The child shares the parent's ring in memory: it must never write there.
void forked_child() {
  process.recording = false;
  this_thread.leave();
}

Recorder* idle_recorder() {
  for (std::uint32_t i = 1; i < thread_count; ++i) {
    if (!idle[i]) continue;
    idle[i] = false;
    return recorders[i];
  }
  return nullptr;
}

Recorder* new_recorder() {
  if (thread_count == threads_limit) return nullptr;
  void* memory = aligned_alloc(64, (sizeof(Recorder) + 63) / 64 * 64);
  if (memory == nullptr) return nullptr;
  record::SegmentHeader* segment = process.attachable ? nullptr : create_segment(thread_count);
  if (segment == nullptr && !process.attachable) {
    free(memory);
    return nullptr;
  }
  auto* r = new (memory) Recorder;
  if (segment != nullptr) {
    r->open(segment);
  } else if (!r->start_dormant()) {
    free(memory);
    return nullptr;
  }
  if (process.lone && thread_count != 0) {
    process.lone = false;
    recorders[0]->wake_receives();
  }
  recorders[thread_count++] = r;
  if (segment != nullptr) recorders[0]->header().thread_count.store(thread_count, std::memory_order_relaxed);
  return r;
}

std::uint64_t nanoseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(t.tv_nsec);
}
std::uint64_t milliseconds() { return nanoseconds() / 1'000'000u; }

void sleep_microseconds(long microseconds) {
  const timespec t = {0, microseconds * 1000};
  nanosleep(&t, nullptr);
}

}  // namespace

// nullptr too when recording is switched off: the new recorder is muted then.
Recorder* make_recorder() {
  if (this_thread.refused) return nullptr;
  pthread_mutex_lock(&threads_lock);
  Recorder* r = idle_recorder();
  if (r == nullptr) r = new_recorder();
  pthread_mutex_unlock(&threads_lock);
  this_thread.refused = r == nullptr;
  if (r == nullptr) return nullptr;
  if (r != recorders[0]) pthread_setspecific(thread_end, r);
  r->begin_processor();
  if (process.attachable) {
    this_thread.muted = r;
    return r->attend() ? r : nullptr;
  }
  if (r->muted() || process.off.load(std::memory_order_relaxed)) {
    r->mute();
    return r->try_to_resume() ? r : nullptr;
  }
  return this_thread.recorder = r;
}

Recorder* wake_recorder() {
  if (this_thread.refused || !process.recording.load(std::memory_order_relaxed)) return nullptr;
  Recorder* muted = this_thread.muted;
  if (muted == nullptr) return make_recorder();
  if (process.attachable) return muted->attend() ? muted : nullptr;
  return muted->try_to_resume() ? muted : nullptr;
}

Recorder* wake_or_muted_recorder() {
  if (!process.off.load(std::memory_order_relaxed) || this_thread.muted == nullptr || process.attachable) {
    if (Recorder* r = wake_recorder()) return r;
  }
  return muted_recorder();
}

bool start_recording() {
  if (pthread_key_create(&thread_end, give_up_thread) != 0) return false;
  pthread_atfork(nullptr, nullptr, forked_child);
  process.lone = process.attachable && !process.multiple;
  if (make_recorder() == nullptr && this_thread.muted == nullptr) return false;
  process.recording = true;
  return true;
}

Recorder* last_recorder() {
  process.off = false;
  Recorder* mine = tracking_recorder();
  pthread_mutex_lock(&threads_lock);
  const std::uint32_t count = thread_count;
  pthread_mutex_unlock(&threads_lock);
  for (std::uint32_t i = 0; i < count; ++i) recorders[i]->settle();
  return mine;
}

// The process may end now. The aggregator looks for rings every few milliseconds. The lock is held.
static void wait_to_be_found(std::uint64_t patience_ms) {
  const int saved = errno;
  const std::uint64_t deadline = milliseconds() + patience_ms;
  for (std::uint32_t i = 0; i < thread_count; ++i)
    while (recorders[i]->must_be_found() && milliseconds() < deadline) sleep_microseconds(500);
  errno = saved;
}

void stop_recording() {
  if (process.attachable) close_session(process.open_session.load());
  process.recording = false;
  this_thread.leave();
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i)
    recorders[i]->header().state.store(record::ProcessState::finalizing, std::memory_order_release);
  wait_to_be_found(1000);
  pthread_mutex_unlock(&threads_lock);
}

void leave_recording() {
  if (pthread_mutex_trylock(&threads_lock) != 0) return;  // exit() may come from anywhere, signal handlers too
  for (std::uint32_t i = 0; i < thread_count; ++i)
    recorders[i]->header().state.store(record::ProcessState::left, std::memory_order_release);
  wait_to_be_found(100);
  pthread_mutex_unlock(&threads_lock);
}

namespace {

// The lock is held.
void close_open_session() {
  process.open_session.store(0);
  uncount_on_board(&record::Board::recording);
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    recorders[i]->ask_to_mute();
    if (idle[i]) recorders[i]->fall_asleep();
  }
}

// The first thread of the process in this session. Those that ended, or are not in MPI now, leave their accounts to it:
// what they do from now on they will do in the session. The others have rings that say that a summary is to come.
// Thread 0 always has one.
bool open_session(Recorder& mine, std::uint32_t session) {
  bool complete = true;
  std::uint32_t segments = 0;
  // All threads that are in the last one have been in MPI since before it ended.
  if (process.open_session.load() != 0) close_open_session();
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    Recorder& r = *recorders[i];
    r.drop_next();
    const bool outside = &r != &mine && !r.busy() && r.session() == 0;
    if (idle[i] || (outside && i != 0)) {
      mine.accounts().inherit(r.accounts());
      continue;
    }
    if (outside) mine.accounts().inherit(r.accounts());
    record::SegmentHeader* segment = create_segment(i, !outside, session);
    r.set_next(segment);
    r.ask_to_mute();
    complete &= segment != nullptr;
    segments += segment != nullptr;
  }
  if (record::SegmentHeader* first = recorders[0]->next_segment()) first->thread_count.store(segments);
  process.first_send = process.sends.load();
  process.first_receive = process.receives.load();
  Unrecorded::number_from(process.first_receive);
  process.open_session.store(session);
  count_on_board(&record::Board::recording);
  return complete;
}

}  // namespace

void close_session(std::uint32_t session) {
  pthread_mutex_lock(&threads_lock);
  if (session != 0 && process.open_session.load() == session) {
    left_session = session;
    close_open_session();
  }
  pthread_mutex_unlock(&threads_lock);
}

record::SegmentHeader* enter_session(Recorder& mine, std::uint32_t session, bool& opened, bool& certain) {
  pthread_mutex_lock(&threads_lock);
  opened = process.open_session.load() != session;
  // A thread may have looked at the board long ago: others are in a later session by now. Nor is one begun again that
  // the process left because its aggregator is gone.
  if (opened && (process.session->load(std::memory_order_acquire) != session || left_session == session)) {
    opened = false;
    pthread_mutex_unlock(&threads_lock);
    return nullptr;
  }
  if (opened) certain &= open_session(mine, session);
  record::SegmentHeader* segment = mine.next_segment();
  for (std::uint32_t i = 0; segment == nullptr && !opened && i < thread_count; ++i) {  // a new thread
    if (recorders[i] != &mine) continue;
    segment = create_segment(i, true, session);
    Recorder& r = *recorders[0];
    record::SegmentHeader* first = r.session() == session ? &r.header() : r.next_segment();
    if (segment != nullptr && first != nullptr) first->thread_count.fetch_add(1);
  }
  mine.set_next(nullptr);
  pthread_mutex_unlock(&threads_lock);
  return segment;
}

void mute_all() {
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i) recorders[i]->ask_to_mute();
  pthread_mutex_unlock(&threads_lock);
}

void lowest_under_way(const Recorder* mine, std::uint64_t& sends, std::uint64_t& receives) {
  sends = process.sends.load(std::memory_order_acquire);
  receives = process.receives.load(std::memory_order_acquire);
  if (!process.multiple) return;
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    if (recorders[i] != mine) recorders[i]->numbers_under_way(sends, receives);
  }
  pthread_mutex_unlock(&threads_lock);
}

void Recorder::numbers_under_way(std::uint64_t& sends, std::uint64_t& receives) const {
  const std::uint64_t send = sending_.load(std::memory_order_acquire);
  const std::uint64_t receive = receiving_.load(std::memory_order_acquire);
  if (send < sends) sends = send;
  if (receive < receives) receives = receive;
}

void Recorder::go_quiet() {
  if (process.attachable) return leave_session();
  quiet_ = true;
  detour_.store(true, std::memory_order_relaxed);
  if (this_thread.recorder == this) this_thread.recorder = nullptr;
  if (this_thread.muted == this) this_thread.muted = nullptr;
  this_thread.refused = true;
}

void Recorder::renew_caches() {
  const std::uint32_t epoch = process.handles_epoch.load(std::memory_order_relaxed);
  if (epoch == epoch_) return;
  epoch_ = epoch;
  for (KnownComm& known : comms_) known = {};
  for (TypeSize& cached : types_) cached = {};
}

Communicator& Recorder::look_up(MPI_Comm comm) {
  renew_caches();
  Communicator& found = find_communicator(comm);
  if (&found == &no_communicator) return found;
  renew_caches();  // taking it in may have found its handle used again
  comms_[place_of(key_of(comm)) & 7] = {comm, &found};
  return found;
}

std::uint64_t Recorder::ask_size(MPI_Datatype type) {
  renew_caches();
  MPI_Count size = 0;
  if (real.Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  const std::uint64_t key = key_of(type);
  types_[place_of(key)] = {key, static_cast<std::uint64_t>(size)};
  return static_cast<std::uint64_t>(size);
}

void Recorder::open(record::SegmentHeader* segment) {
  paths_.open(options().stacks);
  ++told_to_;
  record::Board* board = open_board();
  ring_ = record::RingWriter(segment, board != nullptr ? &record::bell_of(*board, options().part) : nullptr, take_ring);
  header_ = segment;
  processor_ = Processor();
  begin_processor();
}

// The ring is full, or nothing is to be written. nullptr: absorb().
record::Event* Recorder::claim_slowly() {
  if (quiet_ || muted_) return nullptr;
  if (process.attachable && session_ != process.open_session.load()) {  // another thread left it
    fall_asleep();
    return nullptr;
  }
  if (process.off.load(std::memory_order_relaxed)) {
    mute();
    return nullptr;
  }
  detour_.store(false, std::memory_order_relaxed);  // asked to be muted, and meanwhile not any more
  if (ring_.claim() == nullptr && !wait_for_room()) {
    if (!quiet_ && session_ != 0) mute();
    return nullptr;
  }
  waited_in_vain_ = false;
  return ring_.claim();
}

// Waits a bounded time for a living consumer; false when there is no room still. At the end of the process it waits
// whatever the policy is: nobody is held up any more, and what is not written now is lost.
bool Recorder::wait_for_room(bool at_end) {
  if (consumer_gone()) {
    go_quiet();
    return false;
  }
  if (!consumer_due() || (!at_end && (waited_in_vain_ || !options().wait_when_full))) return false;
  constexpr std::int32_t patience_at_end = 100;
  const std::int32_t patience = at_end && options().wait_ms < patience_at_end ? patience_at_end : options().wait_ms;
  const int saved = errno;
  const std::uint64_t begin = nanoseconds();
  const std::uint64_t most = static_cast<std::uint64_t>(patience) * 1'000'000u;
  std::atomic<std::uint64_t>& held_up = header().held_up_ns;
  const std::uint64_t before = held_up.load(std::memory_order_relaxed);
  const auto waited = [&] {
    const std::uint64_t ns = nanoseconds() - begin;
    held_up.store(before + ns, std::memory_order_relaxed);
    return ns;
  };
  bool room = false, gone = false;
  for (int round = 0; !room && !gone; ++round) {
    const bool check = round % 64 == 0;  // the system calls that look at the consumer and the clock: rarely
    gone = consumer_gone() || (check && consumer_dead());
    if (gone || (check && waited() >= most)) break;
    sleep_microseconds(50);
    room = ring_.claim() != nullptr;
  }
  waited();
  if (gone) go_quiet();
  waited_in_vain_ = !room;
  errno = saved;
  return room;
}

// A ring without a name goes with its process, and what its addresses mean can be read of a living process only.
bool Recorder::must_be_found() {
  if (session_ == 0) return false;  // dormant: it has none
  const bool due = header().descriptor >= 0 ? consumer_due() : aggregator_pid() != 0;
  return due && header().consumer.load(std::memory_order_acquire) == record::Consumer::expected && !consumer_dead();
}

bool Recorder::consumer_gone() { return header().consumer.load(std::memory_order_acquire) == record::Consumer::gone; }

bool Recorder::consumer_dead() {
  const auto pid = static_cast<pid_t>(header().consumer_pid.load(std::memory_order_relaxed));
  if (pid == 0 && process.attachable) return !aggregator_alive();
  if (pid == 0) return aggregator_ended();  // it may have died before it found this ring
  return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

// Attached, or about to be: a ring can fill up in a millisecond, sooner than the aggregator finds it.
bool Recorder::consumer_due() {
  return header().consumer.load(std::memory_order_acquire) == record::Consumer::attached || options().tool_ranks > 0 ||
         aggregator_pid() != 0;
}

void* Recorder::borrow(std::size_t bytes) {
  if (borrowed_) return nullptr;
  if (bytes > buffer_bytes_) {
    free(buffer_);
    buffer_bytes_ = bytes + bytes / 2;
    buffer_ = malloc(buffer_bytes_);
    if (buffer_ == nullptr) {
      buffer_bytes_ = 0;
      return nullptr;
    }
  }
  borrowed_ = true;
  return buffer_;
}

}  // namespace pclscope
