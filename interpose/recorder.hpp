// One thread's way into its ring: writes events, keeps the current-call slot, and the caches that make it cheap.
// Every member function is called by that thread only (at the end of the process by the one that calls MPI_Finalize).
// No lock, no allocation on the warm path.
// A recorder is *muted* while its ring is full or MPI_Pcontrol(0) is in force: it writes no events but accounts for what
// matching must know (unrecorded.hpp). muting.cpp holds that part.
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
#include "interpose/unrecorded.hpp"

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
    const KnownComm& known = comms_[place_of(key_of(comm)) & 7];
    if (known.comm == comm && epoch_ == process.handles_epoch.load(std::memory_order_relaxed)) return *known.entry;
    return look_up(comm);
  }

  // Payload of `count` elements. Only for a type that MPI has just accepted: MPI_DATATYPE_NULL may come with no elements.
  template <class Count>
  PCLSCOPE_INLINE std::uint64_t bytes(Count count, MPI_Datatype type) {
    if (count == 0) [[unlikely]] return 0;
    return static_cast<std::uint64_t>(count) * size_of(type);
  }
  PCLSCOPE_INLINE std::uint64_t size_of(MPI_Datatype type) {
    const std::uint64_t key = key_of(type);
    const TypeSize& cached = types_[place_of(key)];
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
  // Before enter(): where the send of a Sendrecv goes.
  PCLSCOPE_INLINE void await_send_to(std::int32_t peer, std::int32_t tag) {
    header().awaited[0].store(record::awaited_sendrecv(peer, tag), std::memory_order_relaxed);
    header().call_awaited.store(1, std::memory_order_relaxed);
  }
  PCLSCOPE_INLINE void await_one(std::uint64_t number) {
    header().awaited[0].store(number, std::memory_order_relaxed);
    header().call_awaited.store(1, std::memory_order_relaxed);
  }
  PCLSCOPE_INLINE void leave() { header().call_function.store(0, std::memory_order_relaxed); }

  // False when the event was not written; what matching must know of it is accounted for. With false for a recv_post, its
  // number is gone: the receive counts as posted while nothing was recorded.
  PCLSCOPE_INLINE bool write(EventKind kind, Function function, std::uint64_t begin, std::uint64_t end, Site site,
                             std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal, std::int32_t peer,
                             std::int32_t tag, std::uint32_t flags) {
    record::Event* event = ring_.claim();
    if (event == nullptr || detour_.load(std::memory_order_relaxed)) [[unlikely]] {
      event = claim_slowly();
      if (event == nullptr) return absorb(kind, function, site, comm, bytes, ordinal, peer, tag, flags);
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
    return true;
  }

  // --- while muted (muting.cpp) ---
  bool muted() const { return muted_; }
  // As write() without a ring: accounts for an event that is not written. Returns what write() does.
  [[gnu::noinline, gnu::cold]] bool absorb(EventKind kind, Function function, Site site, std::uint64_t comm,
                                           std::uint64_t bytes, std::uint64_t ordinal, std::int32_t peer,
                                           std::int32_t tag, std::uint32_t flags);
  // Counts `events` that the call would have left.
  PCLSCOPE_INLINE void missed(std::uint64_t events) {
    if (!process.off.load(std::memory_order_relaxed)) count_lost(events);
  }
  void count_send(std::uint64_t comm, std::int32_t peer, std::int32_t tag);
  // A receive about to be posted, and what became of it.
  Unrecorded::Post posting();
  void count_receive(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Unrecorded::Post& post);
  OutstandingReceive* outstanding(const record::Event& event, const Unrecorded::Post& post);
  // Something happened that the accounts cannot tell.
  void lose_track();
  void mute();
  // Looks whether there is room again, and if so writes what happened meanwhile. True: recording.
  bool try_to_resume();
  // The same before the end of everything: waits for room as ever.
  void settle();
  // Asks the thread to mute itself at its next event, because of MPI_Pcontrol(0). Called by any thread.
  void ask_to_mute() { detour_.store(true, std::memory_order_relaxed); }

  // --- numbers under MPI_THREAD_MULTIPLE: taken at entry, and until the return a bound of them is public ---
  std::uint64_t number_send() { return number(process.sends, sending_); }
  std::uint64_t number_receive() { return number(process.receives, receiving_); }
  PCLSCOPE_INLINE void numbered_call_returned() {
    sending_.store(none, std::memory_order_release);
    receiving_.store(none, std::memory_order_release);
  }

  // Memory for a call with many requests, kept for the next one. nullptr when there is none or it is in use (a
  // callback of the application calls MPI from within MPI): give_back() only what was got.
  void* borrow(std::size_t bytes);
  void give_back() { borrowed_ = false; }

  // Stops recording on this thread for good.
  void go_quiet();
  void numbers_under_way(std::uint64_t& sends, std::uint64_t& receives) const;

 private:
  struct TypeSize {
    std::uint64_t key;
    std::uint64_t size;
  };
  struct KnownComm {
    MPI_Comm comm;
    Communicator* entry;
  };
  static constexpr std::uint64_t none = ~std::uint64_t{0};
  static std::size_t place_of(std::uint64_t key) { return (key * 0x9E3779B97F4A7C15u) >> 60; }

  static std::uint64_t number(std::atomic<std::uint64_t>& counter, std::atomic<std::uint64_t>& bound) {
    // The bound first: whoever sees the number taken sees the bound too.
    if (bound.load(std::memory_order_relaxed) == none)
      bound.store(counter.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return counter.fetch_add(1, std::memory_order_acq_rel);
  }

  Communicator& look_up(MPI_Comm comm);
  std::uint64_t ask_size(MPI_Datatype type);
  void renew_caches();
  record::Event* claim_slowly();
  bool wait_for_room(bool at_end = false);
  bool consumer_gone();
  bool consumer_dead();
  bool consumer_due();
  // muting.cpp
  void count_lost(std::uint64_t events);
  bool resume();
  bool pour();
  void see_bounds();

  record::RingWriter ring_;
  std::atomic<bool> detour_{false};  // muted, quiet, or asked to be: no event goes into the ring directly
  bool muted_ = false;
  bool quiet_ = false;
  bool waited_in_vain_ = false;  // do not wait again before there was room
  bool borrowed_ = false;
  std::uint32_t epoch_ = 0;   // of process.handles_epoch, at which the caches were empty
  std::uint32_t checks_ = 0;  // of the consumer, while muted
  KnownComm comms_[8] = {};
  TypeSize types_[16] = {};
  void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;

  Unrecorded* accounts_ = nullptr;      // made when first muted
  Unrecorded::Summary summary_{};       // being written: events from summary_next_ on
  std::size_t summary_next_ = 0;
  std::uint64_t lost_ = 0;              // events missing since the last summary
  std::uint64_t sends_begin_ = 0;       // no numbered call of another thread that was under way then has a lower number
  std::uint64_t receives_begin_ = 0;
  std::atomic<std::uint64_t> sending_{none}, receiving_{none};
};

// This thread's recorder, or nullptr when nothing is to be recorded.
extern __thread Recorder* thread_recorder __attribute__((tls_model("initial-exec")));
// While true and without a recorder, this thread gets none (fortran/inside.hpp uses that too).
extern __thread bool thread_refused __attribute__((tls_model("initial-exec")));
// Its muted recorder, else nullptr.
extern __thread Recorder* thread_muted __attribute__((tls_model("initial-exec")));
Recorder* make_recorder();
Recorder* wake_recorder();
PCLSCOPE_INLINE Recorder* recorder() {
  Recorder* r = thread_recorder;
  if (r != nullptr) [[likely]] return r;
  return wake_recorder();
}
// For the fast way: where this thread records and no other may be in MPI.
PCLSCOPE_INLINE Recorder* plain_recorder() { return process.multiple ? nullptr : thread_recorder; }
// For the calls that recorder() gave none.
inline Recorder* muted_recorder() { return thread_refused ? nullptr : thread_muted; }
// For calls that must be accounted for even when they leave no event: perhaps a muted one.
Recorder* wake_or_muted_recorder();
PCLSCOPE_INLINE Recorder* tracking_recorder() {
  Recorder* r = thread_recorder;
  if (r != nullptr) [[likely]] return r;
  return wake_or_muted_recorder();
}

// Starts recording in this process: the calling thread's segment is number 0. False when there is no memory for it.
bool start_recording();
// MPI_Finalize was entered: what other threads did not write yet is written. Returns the calling thread's recorder.
Recorder* last_recorder();
// No more events of any thread.
void stop_recording();
// MPI_Pcontrol: process.off was changed.
void mute_all();
// The lowest numbers of sends and receives that other threads than `mine` may have under way.
void lowest_under_way(const Recorder* mine, std::uint64_t& sends, std::uint64_t& receives);

}  // namespace pclscope
