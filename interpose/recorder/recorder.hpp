// One thread's way into its ring: writes events, keeps the current-call slot, and the caches that make it cheap.
// Every member function is called by that thread only (at the end of the process by the one that calls MPI_Finalize).
// No lock, no allocation on the warm path.
// A recorder is *muted* while its ring is full or MPI_Pcontrol(0) is in force: it writes no events but accounts for
// what matching must know (unrecorded.hpp). muting.cpp holds that part. In a process that was only preloaded it is
// *dormant* between sessions: muted, without a ring, and it counts for life. sessions.cpp holds that part.
#pragma once

#include <atomic>
#include <cstdint>

#include "interpose/library/mpi.hpp"
#include "interpose/process/clock.hpp"
#include "interpose/record/event.hpp"
#include "interpose/record/functions.hpp"
#include "interpose/record/ring.hpp"
#include "interpose/recorder/call_paths.hpp"
#include "interpose/recorder/communicators.hpp"
#include "interpose/recorder/polling.hpp"
#include "interpose/recorder/process.hpp"
#include "interpose/recorder/processor.hpp"
#include "interpose/recorder/unrecorded.hpp"

namespace pclscope {

using record::EventKind;
using record::Function;
namespace flag = record::flag;

class Recorder {
 public:
  void open(record::SegmentHeader* segment);
  record::SegmentHeader& header() { return *header_; }

  PCLSCOPE_INLINE Communicator& communicator(MPI_Comm comm) {
    if (comm == process.app_world) [[likely]]
      return world_communicator;
    const KnownComm& known = comms_[place_of(key_of(comm)) & 7];
    if (known.comm == comm && epoch_ == process.handles_epoch.load(std::memory_order_relaxed)) return *known.entry;
    return look_up(comm);
  }

  // Payload of `count` elements. Only for a type that MPI has just accepted: MPI_DATATYPE_NULL may come with no
  // elements.
  template <class Count>
  PCLSCOPE_INLINE std::uint64_t bytes(Count count, MPI_Datatype type) {
    if (count == 0) [[unlikely]]
      return 0;
    return static_cast<std::uint64_t>(count) * size_of(type);
  }
  PCLSCOPE_INLINE std::uint64_t size_of(MPI_Datatype type) {
    const std::uint64_t key = key_of(type);
    const TypeSize& cached = types_[place_of(key)];
    if (cached.key == key && epoch_ == process.handles_epoch.load(std::memory_order_relaxed)) [[likely]]
      return cached.size;
    return ask_size(type);
  }

  // The call path of a call, told in the ring before anything refers to it; else the return address. Not while muted.
  PCLSCOPE_INLINE Site site_of(Caller caller) {
    if (!paths_.on()) return caller.address();
    CallPaths::Known* known = paths_.look(caller);
    if (known != nullptr && known->told == told_to_) [[likely]]
      return known->site;
    return new_site(caller, known);
  }
  // The same, not in line: for the calls of which there are not so many.
  [[gnu::noinline]] Site site_of_call(Caller caller);

  // What this thread is inside now, visible to the aggregator. Relaxed: the reader only samples.
  PCLSCOPE_INLINE void enter(std::uint64_t since, Function function, Site site, std::uint64_t comm, std::int32_t peer,
                             std::int32_t tag) {
    constexpr auto relaxed = std::memory_order_relaxed;
    record::SegmentHeader& h = header();
    if (since - processor_.left_at > Processor::long_stretch) [[unlikely]]
      measure_processor(since);
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
  PCLSCOPE_INLINE void await_one(std::uint64_t number, std::uint64_t comm) {
    if (number & record::awaited_collective) header().awaited_comm[0].store(comm, std::memory_order_relaxed);
    header().awaited[0].store(number, std::memory_order_relaxed);
    header().call_awaited.store(1, std::memory_order_relaxed);
  }
  // After a nonblocking collective was posted. `count` last, and whoever reads it sees no other communicator's id.
  void posted_collective(const Communicator& c) {
    if (session_ == 0 || header_ == nullptr) return;
    record::SegmentHeader::Posted& place = header_->posted[record::posted_place(c.id)];
    const bool other = place.comm.load(std::memory_order_relaxed) != c.id;
    if (other) place.comm.store(0, std::memory_order_relaxed);
    place.count.store(c.collectives.load(std::memory_order_relaxed), std::memory_order_release);
    if (other) place.comm.store(c.id, std::memory_order_release);
  }
  // Of the call that began at `begin`.
  PCLSCOPE_INLINE void leave(std::uint64_t begin, std::uint64_t end) {
    header().call_function.store(0, std::memory_order_relaxed);
    processor_.inside += end - begin;
    processor_.left_at = end;
    if (end - begin > Processor::long_stretch) [[unlikely]]
      measure_processor(end);
  }
  // Outside MPI, or at entry and return: how long the thread ran since the last time (processor.cpp).
  [[gnu::noinline]] void measure_processor(std::uint64_t now_ticks);
  // The calling thread's time from here on, whichever thread had this recorder before.
  void begin_processor() {
    processor_.measured = false;
    measure_processor(now());
  }

  // False when the event was not written; what matching must know of it is accounted for. With false for a recv_post,
  // its number is gone: the receive counts as posted while nothing was recorded.
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

  // --- polling (polling.cpp): calls that found nothing leave no event, one event tells the whole loop of them ---
  // A Test, Iprobe ... found nothing.
  PCLSCOPE_INLINE void polled_in_vain(std::uint64_t begin, std::uint64_t end) {
    if (poll_.head == ring_.written() && begin - poll_.end < Polling::short_gap) [[likely]] {
      poll_.waited += end - poll_.end;
      poll_.end = end;
      return;
    }
    poll_otherwise(begin, end);
  }
  // One that began at `begin` found something: when the wait began that it ends.
  PCLSCOPE_INLINE std::uint64_t poll_began(std::uint64_t begin) {
    return poll_.head != ring_.written() ? begin : end_of_polling(begin);
  }
  // The same of Improbe, which posts the receive of what it finds: not before the first Improbe in a row.
  void probed_in_vain(std::uint64_t begin, std::uint64_t end) {
    const bool in_a_row = poll_.head == ring_.written() && poll_.probed_end == poll_.end;
    const std::uint64_t from = in_a_row ? poll_.probed_from : begin;
    polled_in_vain(begin, end);
    poll_.probed_from = from;
    poll_.probed_end = end;
  }
  std::uint64_t probe_began(std::uint64_t begin) {
    if (poll_.head != ring_.written() || poll_.probed_end != poll_.end) return begin;
    const std::uint64_t from = poll_.probed_from, began = poll_began(begin);
    return began > from ? began : from;
  }

  // --- while muted (muting.cpp) ---
  bool muted() const { return muted_; }
  // As write() without a ring: accounts for an event that is not written. Returns what write() does.
  [[gnu::noinline, gnu::cold]] bool absorb(EventKind kind, Function function, Site site, std::uint64_t comm,
                                           std::uint64_t bytes, std::uint64_t ordinal, std::int32_t peer,
                                           std::int32_t tag, std::uint32_t flags);
  // Counts `events` that the call would have left.
  PCLSCOPE_INLINE void missed(std::uint64_t events) {
    if (session_ != 0 && !process.off.load(std::memory_order_relaxed)) count_lost(events);
  }
  PCLSCOPE_INLINE void count_send(std::uint64_t comm, std::int32_t peer, std::int32_t tag) {
    if (process.attachable) accounts_->life_sent(comm, peer, tag);
    if (session_ != 0) count_send_here(comm, peer, tag);
  }
  // A receive about to be posted, and what became of it.
  Unrecorded::Post posting();
  void count_receive(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Unrecorded::Post& post);
  void count_unrecorded(std::uint64_t comm, std::int32_t peer, std::int32_t tag, const Unrecorded::Post& post);
  OutstandingReceive* outstanding(const record::Event& event, const Unrecorded::Post& post,
                                  std::uint64_t number = OutstandingReceive::unnumbered);
  // Something happened that the accounts cannot tell.
  void lose_track();
  void mute();
  // Looks whether there is room again, and if so writes what happened meanwhile. True: recording.
  bool try_to_resume();
  // The same before the end of everything: waits for room as ever.
  void settle();
  // A living consumer has not found the ring yet, and would miss something if the process ended now.
  bool must_be_found();
  // Asks the thread to mute itself at its next event, because of MPI_Pcontrol(0). Called by any thread.
  void ask_to_mute() { detour_.store(true, std::memory_order_relaxed); }

  // --- a process that was only preloaded (sessions.cpp) ---
  // Without a ring.
  bool start_dormant();  // false without memory
  // Enters and leaves sessions as the board's word says. True: recording.
  PCLSCOPE_INLINE bool attend() {
    const std::uint32_t word = look();
    if (word != seen_) [[unlikely]]
      follow(word);
    return session_ != 0 && (!muted_ || try_to_resume());
  }
  // Dormant, and nobody wants anything else.
  PCLSCOPE_INLINE bool sleeps() { return session_ == 0 && seen_ == look(); }
  // The only thread, dormant, posts a receive that the table of requests keeps: its order.
  std::uint64_t post_asleep() {
    asleep_ = true;
    return Unrecorded::next_order();
  }
  // No more of that: see keep_asleep().
  void wake_receives();
  // Another thread that opens a session may speak for this one, unless it is in a call: who is has said so before it
  // looked at the word, so one of the two sees the other. Nobody says so too late; where an end is not told, the thread
  // counts as being in MPI until its next call.
  PCLSCOPE_INLINE std::uint32_t look() {
    if (process.multiple) [[unlikely]]
      busy_.store(true, std::memory_order_seq_cst);
    return process.session->load(std::memory_order_acquire);
  }
  PCLSCOPE_INLINE void call_ended() {
    if (process.multiple) [[unlikely]]
      busy_.store(false, std::memory_order_release);
  }
  bool busy() const { return busy_.load(std::memory_order_seq_cst); }
  // For life: what a recorded call did. Nothing where recording is not in sessions.
  void life_sent(std::uint64_t comm, std::int32_t peer, std::int32_t tag) { accounts_->life_sent(comm, peer, tag); }
  void life_unsent(std::uint64_t comm, std::int32_t peer, std::int32_t tag) { accounts_->life_unsent(comm, peer, tag); }
  void life_received(std::uint64_t comm, std::int32_t peer, std::int32_t tag, std::uint64_t order) {
    accounts_->life_received(comm, peer, tag, order);
  }
  // Nobody knows what is missing in any session to come.
  void lose_track_for_life();
  // Another thread opened a session: this one's ring for it. Under the lock of the list of threads.
  void set_next(record::SegmentHeader* segment) { next_segment_ = segment; }
  record::SegmentHeader* next_segment() const { return next_segment_; }
  void drop_next();  // a ring that it never took
  std::uint32_t session() const { return session_; }
  Unrecorded& accounts() { return *accounts_; }
  // Says that no more events come, and gives the ring back: of a thread that ended, or its own.
  void fall_asleep();

  // --- numbers under MPI_THREAD_MULTIPLE: taken at entry, and until the return a bound of them is public ---
  std::uint64_t number_send() { return (sends_until_ = number(process.sends, sending_) + 1) - 1; }
  std::uint64_t number_receive() { return (receives_until_ = number(process.receives, receiving_) + 1) - 1; }
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

  // polling.cpp
  [[gnu::noinline]] void poll_otherwise(std::uint64_t begin, std::uint64_t end);
  [[gnu::noinline]] std::uint64_t end_of_polling(std::uint64_t begin);
  double idle_in_gaps() const;

  [[gnu::noinline, gnu::cold]] Site new_site(Caller caller, CallPaths::Known* known);  // sites.cpp
  bool tell_path(const CallPaths::Known& known);
  Communicator& look_up(MPI_Comm comm);
  std::uint64_t ask_size(MPI_Datatype type);
  void renew_caches();
  record::Event* claim_slowly();
  bool wait_for_room(bool at_end = false);
  bool consumer_gone();
  bool consumer_dead();
  bool consumer_due();
  // sessions.cpp
  [[gnu::noinline, gnu::cold]] void follow(std::uint32_t word);
  void join(std::uint32_t word);
  void leave_session();
  // muting.cpp
  bool absorb_dormant(EventKind kind, Function function, Site site, std::uint64_t comm, std::uint64_t bytes,
                      std::uint64_t ordinal, std::int32_t peer, std::int32_t tag, std::uint32_t flags);
  void count_send_here(std::uint64_t comm, std::int32_t peer, std::int32_t tag);
  void count_lost(std::uint64_t events);
  bool resume();
  bool pour();
  void see_bounds();

  record::RingWriter ring_;
  record::SegmentHeader* header_ = nullptr;
  std::atomic<bool> detour_{false};  // muted, quiet, or asked to be: no event goes into the ring directly
  bool muted_ = false;
  bool quiet_ = false;
  bool waited_in_vain_ = false;  // do not wait again before there was room
  bool borrowed_ = false;
  bool asleep_ = false;        // the table of requests may have receives that it alone keeps
  std::uint32_t epoch_ = 0;    // of process.handles_epoch, at which the caches were empty
  std::uint32_t checks_ = 0;   // of the consumer, while muted
  std::uint32_t session_ = 1;  // in which it records; 0: dormant. Always 1 in a job that `pclscope run` started
  std::uint32_t seen_ = 0;     // of the board's word
  Processor processor_;
  Polling poll_;
  CallPaths paths_;
  std::uint32_t told_to_ = 0;  // counts the rings: a path is told in each
  KnownComm comms_[8] = {};
  TypeSize types_[16] = {};
  void* buffer_ = nullptr;
  std::size_t buffer_bytes_ = 0;

  Unrecorded* accounts_ = nullptr;  // made when first muted
  Unrecorded::Summary summary_{};   // being written: events from summary_next_ on
  std::size_t summary_next_ = 0;
  std::uint64_t lost_ = 0;         // events missing since the last summary
  std::uint64_t sends_begin_ = 0;  // no numbered call of another thread that was under way then has a lower number
  std::uint64_t receives_begin_ = 0;
  std::atomic<std::uint64_t> sending_{none}, receiving_{none};
  std::uint64_t sends_until_ = 0, receives_until_ = 0;  // one beyond the number that it took last
  record::SegmentHeader* next_segment_ = nullptr;
  std::atomic<bool> busy_{false};  // MPI_THREAD_MULTIPLE, attachable: in a call, perhaps
};

// What the calling thread records with.
struct ThisThread {
  Recorder* recorder;  // records; nullptr: nothing is to be recorded, or recorder() must look first
  // Its muted recorder, else nullptr. In a process that was only preloaded: its recorder, muted or not, which then
  // never stands above, so that every call looks at the session first.
  Recorder* muted;
  bool refused;       // gets none, while it has none
  int fortran_depth;  // MPICH: routines of its Fortran library that work for the application (fortran/inside.hpp)

  // From here on it records nothing.
  void leave() {
    recorder = muted = nullptr;
    refused = true;
  }
};
extern __thread ThisThread this_thread __attribute__((tls_model("initial-exec")));

// While one lives: what the MPI library itself calls on this thread is no call of the application. Wrappers that record
// then do nothing but hide the tool's ranks.
class RecordingPaused {
 public:
  RecordingPaused() : recorder_(this_thread.recorder), refused_(this_thread.refused) {
    this_thread.recorder = nullptr;
    this_thread.refused = true;
  }
  ~RecordingPaused() {
    this_thread.refused = refused_;
    this_thread.recorder = recorder_;
  }
  RecordingPaused(const RecordingPaused&) = delete;
  RecordingPaused& operator=(const RecordingPaused&) = delete;

 private:
  Recorder* const recorder_;
  const bool refused_;
};

Recorder* make_recorder();
Recorder* wake_recorder();
PCLSCOPE_INLINE Recorder* recorder() {
  Recorder* r = this_thread.recorder;
  if (r != nullptr) [[likely]]
    return r;
  return wake_recorder();
}
// For the fast way: where this thread records and no other may be in MPI.
PCLSCOPE_INLINE Recorder* plain_recorder() { return process.checked ? nullptr : this_thread.recorder; }
// For the calls that recorder() gave none.
inline Recorder* muted_recorder() { return this_thread.refused ? nullptr : this_thread.muted; }
// The muted recorder of a thread that need not look whether it should record: while MPI_Pcontrol(0) is in force, or
// while nobody is attached.
PCLSCOPE_INLINE Recorder* switched_off_recorder() {
  if (!process.attachable) return process.off.load(std::memory_order_relaxed) ? muted_recorder() : nullptr;
  Recorder* r = muted_recorder();
  return r != nullptr && r->sleeps() ? r : nullptr;
}
// The same where no other thread has ever called MPI: for the short ways of wrap/dormant.hpp.
PCLSCOPE_INLINE Recorder* lone_sleeper() {
  Recorder* r = this_thread.muted;
  return process.lone && !this_thread.refused && r != nullptr && r->sleeps() ? r : nullptr;
}
// For calls that must be accounted for even when they leave no event: perhaps a muted one.
Recorder* wake_or_muted_recorder();
PCLSCOPE_INLINE Recorder* tracking_recorder() {
  Recorder* r = this_thread.recorder;
  if (r != nullptr) [[likely]]
    return r;
  if (process.attachable && (r = switched_off_recorder()) != nullptr) return r;
  return wake_or_muted_recorder();
}

// At the beginning of a wrapper: tells the end of the call.
class CallEnd {
 public:
  PCLSCOPE_INLINE explicit CallEnd(Recorder* r) : recorder_(r) {}
  PCLSCOPE_INLINE ~CallEnd() {
    if (process.attachable && recorder_ != nullptr) [[unlikely]]
      recorder_->call_ended();
  }
  CallEnd(const CallEnd&) = delete;
  CallEnd& operator=(const CallEnd&) = delete;

 private:
  Recorder* const recorder_;
};

// Starts recording in this process: the calling thread's segment is number 0. False when there is no memory for it.
bool start_recording();
// MPI_Finalize was entered: what other threads did not write yet is written. Returns the calling thread's recorder.
Recorder* last_recorder();
// No more events of any thread.
void stop_recording();
// At exit() without MPI_Finalize: says in all rings that no more events come.
void leave_recording();
// MPI_Pcontrol: process.off was changed.
void mute_all();
// The process leaves the session that it is in: its other threads notice at their next event or call.
void close_session(std::uint32_t session);
// Enters it, if no other thread did: the others that are alive get rings. `opened`: this thread was the first. Returns
// the calling thread's segment, nullptr without room.
record::SegmentHeader* enter_session(Recorder& mine, std::uint32_t session, bool& opened, bool& certain);
// The lowest numbers of sends and receives that other threads than `mine` may have under way.
void lowest_under_way(const Recorder* mine, std::uint64_t& sends, std::uint64_t& receives);

}  // namespace pclscope
