// The one shape of every recorded wrapper:
//
//   comm = app_comm(comm);                         hide the tool's ranks
//   Recorder* r = recorder();                      or tracking_recorder(), where matching must know of the call
//   if (r == nullptr) return real...;              nothing to record
//   CallScope call(*r, F, caller, comm id, peer, tag);   time stamp, current-call slot
//   const int result = real...;
//   call.returned();                               time stamp
//   if (result == MPI_SUCCESS) call.record(...);   events, in the order of FORMAT.md
//   return result;
#pragma once

#include "interpose/recorder/recorder.hpp"
#include "interpose/recorder/requests.hpp"
#include "real_functions.hpp"

namespace pclscope {

// Instead of the number of a send or receive that has none.
inline constexpr std::uint64_t unnumbered = OutstandingReceive::unnumbered;

struct CallScope {
  Recorder& recorder;
  const Function function;
  const bool quiet;     // the recorder is muted: no times, no numbers, no events
  const bool threads;   // other threads may be in MPI
  const bool for_life;  // the process was only preloaded: what happens is counted for life
  const Site site;
  std::uint64_t begin;
  std::uint64_t end = 0;

  // `plain`: known to be neither quiet nor among threads, at compile time in the wrappers that must be fast. Those
  // never let the address of a CallScope escape before the call, or it would live in memory.
  PCLSCOPE_INLINE CallScope(Recorder& r, Function f, Caller caller, std::uint64_t comm, std::int32_t peer,
                            std::int32_t tag, bool plain = false)
      : recorder(r),
        function(f),
        quiet(!plain && r.muted()),
        threads(!plain && process.multiple),
        for_life(!plain && process.attachable),
        site(quiet   ? caller.address()
             : plain ? r.site_of(caller)
                     : r.site_of_call(caller)),
        begin(quiet ? 0 : now()) {
    if (!quiet) [[likely]]
      r.enter(begin, f, site, comm, peer, tag);
  }
  // Of a call that ended, for what became known of it later.
  CallScope(Recorder& r, Function f, Site of_call, std::uint64_t comm, std::int32_t peer, std::int32_t tag)
      : recorder(r),
        function(f),
        quiet(r.muted()),
        threads(process.multiple),
        for_life(process.attachable),
        site(of_call),
        begin(quiet ? 0 : now()) {
    if (!quiet) r.enter(begin, f, site, comm, peer, tag);
  }

  PCLSCOPE_INLINE void returned() {
    if (quiet) [[unlikely]]
      return;
    end = now();
    recorder.leave(begin, end);
    if (threads) [[unlikely]]
      recorder.numbered_call_returned();
  }

  // Of polling calls, after returned(): it found nothing; or it found something, and ends a wait that began with an
  // earlier one.
  PCLSCOPE_INLINE void found_nothing() {
    if (!quiet) [[likely]]
      recorder.polled_in_vain(begin, end);
  }
  PCLSCOPE_INLINE void found_something() {
    if (!quiet) [[likely]]
      begin = recorder.poll_began(begin);
  }
  // Of Improbe.
  void probed_nothing() {
    if (!quiet) recorder.probed_in_vain(begin, end);
  }
  void probed_something() {
    if (!quiet) begin = recorder.probe_began(begin);
  }

  // False when the event was not written: see Recorder::write. record_inline() is for the calls of which there are
  // many.
  bool record(EventKind kind, std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal, std::int32_t peer,
              std::int32_t tag, std::uint32_t flags);
  PCLSCOPE_INLINE bool record_inline(EventKind kind, std::uint64_t comm, std::uint64_t bytes, std::uint64_t ordinal,
                                     std::int32_t peer, std::int32_t tag, std::uint32_t flags) {
    if (quiet) [[unlikely]]
      return recorder.absorb(kind, function, site, comm, bytes, ordinal, peer, tag, flags);
    return recorder.write(kind, function, begin, end, site, comm, bytes, ordinal, peer, tag, flags);
  }

  // --- numbers (FORMAT.md, "Threads"): of sends at entry if there may be other threads, else at return ---
  PCLSCOPE_INLINE std::uint64_t early_send() { return threads && !quiet ? recorder.number_send() : unnumbered; }
  PCLSCOPE_INLINE std::uint64_t send_ordinal(std::uint64_t early) {
    if (!threads || early == unnumbered) [[likely]]
      return next_send();
    return record::make_ordinal(early, process.sends.load(std::memory_order_relaxed) - early - 1);
  }
  PCLSCOPE_INLINE std::uint64_t number_receive() {
    if (quiet) [[unlikely]]
      return unnumbered;
    return threads ? recorder.number_receive() : next_receive();
  }
  PCLSCOPE_INLINE std::uint64_t receive_ordinal(std::uint64_t number) {
    if (!threads) [[likely]]
      return number;
    return record::make_ordinal(number, process.receives.load(std::memory_order_relaxed) - number - 1);
  }
};

// MPI_SUCCESS, or a truncated message: the receive took its message all the same.
inline bool took_message(int result) {
  if (result == MPI_SUCCESS) [[likely]]
    return true;
  int error_class = MPI_ERR_OTHER;
  return real.Error_class(result, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TRUNCATE;
}
inline std::uint32_t failure_flags(int result) { return result == MPI_SUCCESS ? 0 : flag::failed | flag::truncated; }

// The event of a send that MPI accepted. Returns its number, for what may become of it.
PCLSCOPE_INLINE std::uint64_t record_send(CallScope& call, const Communicator& c, std::uint64_t bytes,
                                          std::int32_t peer, int tag, std::uint32_t flags, std::uint64_t early) {
  if (call.quiet) [[unlikely]] {
    call.recorder.count_send(c.id, peer, tag);
    return unnumbered;
  }
  if (call.for_life) [[unlikely]]
    call.recorder.life_sent(c.id, peer, tag);
  const std::uint64_t ordinal = call.send_ordinal(early);
  return call.record_inline(EventKind::send, c.id, bytes, ordinal, peer, tag, flags) ? ordinal : unnumbered;
}
// One that it refused has a number only if that was taken before. `result`: what MPI returned.
[[gnu::cold]] void refuse_send(CallScope call, const Communicator& c, std::int32_t peer, int tag, std::uint32_t flags,
                               std::uint64_t early, int result);

// An error of which MPI did nothing but look at the arguments.
[[gnu::cold]] bool refused_arguments(int result);

// A receive by a blocking call: numbered, and, if there may be other threads, announced.
struct BlockingReceive {
  std::uint64_t number = unnumbered;
  std::uint32_t flags = 0;  // `first_come`; `posted` if there was an announcement
  Unrecorded::Post post;    // where there is no number

  BlockingReceive() {}
  PCLSCOPE_INLINE BlockingReceive(CallScope& call, const Communicator& c, std::int32_t peer, int tag)
      : number(call.number_receive()), flags(peer == record::any_source ? flag::first_come : 0) {
    if (call.threads || call.quiet || call.for_life) [[unlikely]]
      *this = announced(call, number, c, peer, tag);
  }

 private:
  [[gnu::cold]] static BlockingReceive announced(CallScope call, std::uint64_t number, const Communicator& c,
                                                 std::int32_t peer, int tag);
};

// Ends it: resolved by its status, or, when MPI refused it, as one that took nothing, so that the numbers of posted
// receives stay without gaps.
[[gnu::cold]] void record_other_end(CallScope call, const Communicator& c, const MPI_Status& status, int result,
                                    BlockingReceive receive);
PCLSCOPE_INLINE void record_received(CallScope& call, const Communicator& c, const MPI_Status& status, int result,
                                     const BlockingReceive& receive) {
  if (result != MPI_SUCCESS || receive.number == unnumbered) [[unlikely]] {
    record_other_end(call, c, status, result, receive);
    return;
  }
  if (call.for_life) [[unlikely]]
    call.recorder.life_received(c.id, c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), receive.post.order);
  call.record_inline(EventKind::recv_done, c.id, bytes_in(status), call.receive_ordinal(receive.number),
                     c.peer(status.MPI_SOURCE), tag_of(status.MPI_TAG), receive.flags | c.flags);
}

// A receive that MPI refused: its number must not stay open.
[[gnu::cold]] void refuse_receive(CallScope call, const Communicator& c, std::uint64_t number, std::uint32_t flags);

// It will complete unseen.
void record_unseen(CallScope& call, const TrackedRequest& receive);

// Remembers a request made by `call`; `what.comm` is that of the call. What the handle named before, if anything, has
// completed unseen.
[[gnu::cold]] void end_unseen(CallScope call, const TrackedRequest& lost);
PCLSCOPE_INLINE void track_inline(CallScope& call, MPI_Request request, const TrackedRequest& what) {
  TrackedRequest lost;
  if (track(request, what, lost)) [[unlikely]]
    end_unseen(call, lost);
}
void track_request(CallScope& call, MPI_Request request, const TrackedRequest& what);
// The same where the communicator is not at hand: `what.comm_id`, peer and tag are known.
void track_known(CallScope& call, MPI_Request request, const TrackedRequest& what);
// A request that is not tracked.
void track_nothing(CallScope& call, MPI_Request request);
PCLSCOPE_INLINE void end_stale(Recorder& muted, Function function, Caller caller, MPI_Request request) {
  const TrackedRequest* entry = find_request(request);
  if (entry == nullptr || entry->kind == RequestKind::none) [[likely]]
    return;
  CallScope call(muted, function, caller, 0, record::unknown_rank, record::any_tag);
  track_nothing(call, request);
}

// The recv_post of a nonblocking receive with a number, or without one, which is then outstanding unrecorded. Fills in
// `what`: ordinal and `unrecorded`. `ordinal`: with which it was recorded all the same, if outstanding receives are
// kept for life.
[[gnu::cold]] OutstandingReceive* post_unrecorded(CallScope call, std::uint64_t number, std::uint64_t comm,
                                                  std::int32_t peer, std::int32_t tag, std::uint32_t flags,
                                                  std::uint64_t ordinal);
PCLSCOPE_INLINE void record_post(CallScope& call, const Communicator& c, TrackedRequest& what, std::uint64_t number) {
  bool written = number != unnumbered;
  if (written) [[likely]] {
    what.ordinal = call.receive_ordinal(number);
    written = call.record_inline(EventKind::recv_post, c.id, 0, what.ordinal, what.peer, what.tag, what.flags);
  }
  if (!written || call.for_life) [[unlikely]] {
    const std::uint64_t ordinal = written ? what.ordinal : unnumbered;
    what.unrecorded = true;
    what.ordinal =
        reinterpret_cast<std::uint64_t>(post_unrecorded(call, number, c.id, what.peer, what.tag, what.flags, ordinal));
  }
}

// A nonblocking receive that was complete when posted: of MPI_PROC_NULL.
void record_nobody(CallScope call, std::uint64_t comm, std::uint64_t number, std::uint32_t flags);

}  // namespace pclscope
