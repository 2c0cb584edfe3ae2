// One thread's way into its ring: writes events, keeps the current-call slot, and the caches that make it cheap.
// Every member function is called by that thread only. No lock, no allocation on the warm path.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/clock.hpp"
#include "interpose/communicators.hpp"
#include "interpose/mpi.hpp"
#include "interpose/process.hpp"
#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"
#include "interpose/record/ring.hpp"

#define PCLSCOPE_INLINE [[gnu::always_inline]] inline

namespace pclscope {

using record::EventKind;
using record::Function;
namespace flag = record::flag;

using Site = std::uint64_t;  // return address in the application
#define PCLSCOPE_SITE (reinterpret_cast<::pclscope::Site>(__builtin_return_address(0)))

class Recorder {
 public:
  void open(record::SegmentHeader* segment) { ring_ = record::RingWriter(segment); }
  record::SegmentHeader& header() { return *ring_.segment(); }

  PCLSCOPE_INLINE Communicator& communicator(MPI_Comm comm) {
    if (comm == process.app_world) [[likely]] return world_communicator;
    if (comm == last_comm_ && epoch_ == process.handles_epoch.load(std::memory_order_relaxed)) return *last_;
    return look_up(comm);
  }

  // Payload of `count` elements. Only for a type that MPI has just accepted.
  template <class Count>
  PCLSCOPE_INLINE std::uint64_t bytes(Count count, MPI_Datatype type) {
    return static_cast<std::uint64_t>(count) * size_of(type);
  }
  PCLSCOPE_INLINE std::uint64_t size_of(MPI_Datatype type) {
    const std::uint64_t key = key_of(type);
    const TypeSize& cached = types_[(key * 0x9E3779B97F4A7C15u) >> 60];
    if (cached.key == key && epoch_ == process.handles_epoch.load(std::memory_order_relaxed)) [[likely]]
      return cached.size;
    return ask_size(type);
  }

  // What this thread is inside now, visible to the aggregator. Relaxed: the reader only samples.
  PCLSCOPE_INLINE void enter(std::uint64_t since, Function function, Site site, std::uint64_t comm, std::int32_t peer,
                             std::int32_t tag) {
    constexpr auto relaxed = std::memory_order_relaxed;
    record::SegmentHeader& h = header();
    h.call_since.store(since, relaxed);
    h.call_site.store(site, relaxed);
    h.call_comm.store(comm, relaxed);
    h.call_peer.store(peer, relaxed);
    h.call_tag.store(tag, relaxed);
    h.call_function.store(static_cast<std::uint32_t>(function), relaxed);
  }
  PCLSCOPE_INLINE void leave() { header().call_function.store(0, std::memory_order_relaxed); }

  PCLSCOPE_INLINE void write(EventKind kind, Function function, std::uint64_t begin, std::uint64_t end, Site site,
                             std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal, std::int32_t peer,
                             std::int32_t tag, std::uint32_t flags) {
    record::Event* event = ring_.claim();
    if (event == nullptr || lost_ != 0) [[unlikely]] {
      event = claim_slowly();
      if (event == nullptr) return;
    }
    event->begin = begin;
    event->end = end;
    event->site = site;
    event->comm = comm;
    event->bytes = bytes;
    event->ordinal = ordinal;
    event->peer = peer;
    event->tag = tag;
    event->kind = kind;
    event->function = static_cast<std::uint16_t>(function);
    event->flags = flags;
    ring_.publish();
  }

  // Memory for a call with many requests, kept for the next one. nullptr when there is none or it is in use (a
  // callback of the application calls MPI from within MPI): give_back() only what was got.
  void* borrow(std::size_t bytes);
  void give_back() { borrowed_ = false; }

  // Stops recording on this thread for good.
  void go_quiet();

 private:
  struct TypeSize {
    std::uint64_t key;
    std::uint64_t size;
  };

  Communicator& look_up(MPI_Comm comm);
  std::uint64_t ask_size(MPI_Datatype type);
  void renew_caches();
  record::Event* claim_slowly();
  bool wait_for_room();
  bool consumer_gone();
  bool consumer_dead();
  bool consumer_due();
  void drop();

  record::RingWriter ring_;
  std::uint64_t lost_ = 0;  // events dropped since the last one written
  MPI_Comm last_comm_{};
  Communicator* last_ = nullptr;
  std::uint32_t epoch_ = 0;   // of process.handles_epoch, at which the caches were empty
  bool quiet_ = false;
  bool waited_in_vain_ = false;  // do not wait again before there was room
  bool borrowed_ = false;
  TypeSize types_[16] = {};
  void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;
};

// This thread's recorder, or nullptr when nothing is to be recorded.
extern __thread Recorder* thread_recorder __attribute__((tls_model("initial-exec")));
Recorder* make_recorder();
PCLSCOPE_INLINE Recorder* recorder() {
  Recorder* r = thread_recorder;
  if (r != nullptr) [[likely]] return r;
  return process.recording.load(std::memory_order_relaxed) ? make_recorder() : nullptr;
}

// Starts recording in this process: the calling thread's segment is number 0. False when there is no memory for it.
bool start_recording();
// MPI_Finalize was entered: no more events of any thread.
void stop_recording();

}  // namespace pclscope
