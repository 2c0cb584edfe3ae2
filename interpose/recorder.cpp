#include "interpose/recorder.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include <new>

#include "interpose/notice.hpp"
#include "interpose/segments.hpp"
#include "real_functions.hpp"

namespace pclscope {

__thread Recorder* thread_recorder __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {

__thread bool thread_refused __attribute__((tls_model("initial-exec"))) = false;

pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;  // guards the rest
constexpr std::uint32_t threads_limit = 4096;
Recorder* recorders[threads_limit];
bool idle[threads_limit];  // its thread ended: the next new thread continues this ring
std::uint32_t thread_count = 0;
pthread_key_t thread_end;

void give_up_thread(void* value) {
  thread_recorder = nullptr;
  thread_refused = true;  // MPI calls in destructors of thread-local objects are not recorded
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i) {
    if (recorders[i] == value) idle[i] = true;
  }
  pthread_mutex_unlock(&threads_lock);
}

// The child shares the parent's ring in memory: it must never write there.
void forked_child() {
  process.recording = false;
  thread_recorder = nullptr;
  thread_refused = true;
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
  record::SegmentHeader* segment = create_segment(thread_count);
  if (segment == nullptr) {
    free(memory);
    return nullptr;
  }
  auto* r = new (memory) Recorder;
  r->open(segment);
  recorders[thread_count++] = r;
  recorders[0]->header().thread_count.store(thread_count, std::memory_order_relaxed);
  return r;
}

std::uint64_t milliseconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1000u + static_cast<std::uint64_t>(t.tv_nsec) / 1000000u;
}

void sleep_microseconds(long microseconds) {
  const timespec t = {0, microseconds * 1000};
  nanosleep(&t, nullptr);
}

}  // namespace

Recorder* make_recorder() {
  if (thread_refused) return nullptr;
  pthread_mutex_lock(&threads_lock);
  Recorder* r = idle_recorder();
  if (r == nullptr) r = new_recorder();
  pthread_mutex_unlock(&threads_lock);
  thread_refused = r == nullptr;
  thread_recorder = r;
  if (r != nullptr && r != recorders[0]) pthread_setspecific(thread_end, r);
  return r;
}

bool start_recording() {
  if (pthread_key_create(&thread_end, give_up_thread) != 0) return false;
  pthread_atfork(nullptr, nullptr, forked_child);
  if (make_recorder() == nullptr) return false;
  process.recording = true;
  return true;
}

void stop_recording() {
  process.recording = false;
  thread_recorder = nullptr;
  thread_refused = true;
  pthread_mutex_lock(&threads_lock);
  for (std::uint32_t i = 0; i < thread_count; ++i)
    recorders[i]->header().state.store(record::ProcessState::finalizing, std::memory_order_release);
  pthread_mutex_unlock(&threads_lock);
}

void Recorder::go_quiet() {
  quiet_ = true;
  if (thread_recorder == this) thread_recorder = nullptr;
  thread_refused = true;
}

void Recorder::renew_caches() {
  const std::uint32_t epoch = process.handles_epoch.load(std::memory_order_relaxed);
  if (epoch == epoch_) return;
  epoch_ = epoch;
  last_comm_ = MPI_Comm{};
  last_ = nullptr;
  for (TypeSize& cached : types_) cached = {};
}

Communicator& Recorder::look_up(MPI_Comm comm) {
  renew_caches();
  Communicator& found = find_communicator(comm);
  if (&found == &no_communicator) return found;
  renew_caches();  // taking it in may have found its handle used again
  last_comm_ = comm;
  last_ = &found;
  return found;
}

std::uint64_t Recorder::ask_size(MPI_Datatype type) {
  renew_caches();
  MPI_Count size = 0;
  if (real.Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return 0;
  const std::uint64_t key = key_of(type);
  types_[(key * 0x9E3779B97F4A7C15u) >> 60] = {key, static_cast<std::uint64_t>(size)};
  return static_cast<std::uint64_t>(size);
}

void Recorder::drop() {
  ++lost_;
  header().dropped.store(header().dropped.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// The ring was full, or events were lost before. Says so in the ring as soon as there is room.
record::Event* Recorder::claim_slowly() {
  if (quiet_) return nullptr;
  if (ring_.claim() == nullptr && !wait_for_room()) {
    if (!quiet_) drop();
    return nullptr;
  }
  waited_in_vain_ = false;
  if (lost_ == 0) return ring_.claim();
  const std::uint64_t lost = lost_;
  lost_ = 0;
  const std::uint64_t t = now();
  write(EventKind::lost, Function::none, t, t, 0, 0, 0, lost, record::unknown_rank, record::any_tag, 0);
  record::Event* event = ring_.claim();
  if (event == nullptr) drop();
  return event;
}

// Waits a bounded time for a living consumer; false when there is no room still.
bool Recorder::wait_for_room() {
  if (consumer_gone()) {
    go_quiet();
    return false;
  }
  if (waited_in_vain_ || !options().wait_when_full || !consumer_due()) return false;
  const int saved = errno;
  const std::uint64_t deadline = milliseconds() + static_cast<std::uint64_t>(options().wait_ms);
  bool room = false;
  for (int round = 0; !room; ++round) {
    const bool check = round % 64 == 0;  // the system calls that look at the consumer and the clock: rarely
    if (consumer_gone() || (check && consumer_dead())) {
      go_quiet();
      break;
    }
    if (check && milliseconds() >= deadline) break;
    sleep_microseconds(50);
    room = ring_.claim() != nullptr;
  }
  waited_in_vain_ = !room;
  errno = saved;
  return room;
}

bool Recorder::consumer_gone() {
  return header().consumer.load(std::memory_order_acquire) == record::Consumer::gone;
}

bool Recorder::consumer_dead() {
  const auto pid = static_cast<pid_t>(header().consumer_pid.load(std::memory_order_relaxed));
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
