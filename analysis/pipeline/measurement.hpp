// Events of ranks in, windows of judged messages out: matching, times, criteria. One per node.
//
// Threads: none inside; one thread owns a Measurement. Memory is bounded by ranks, channels in use, outstanding
// messages and open windows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "analysis/pipeline/measured.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/window/open_windows.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class Matcher;

class Measurement {
 public:
  struct Hooks {
    // A window is over: its messages are judged, and their sums stand as the open window of Measured::pairs (and in its
    // totals), the worst as that of Measured::worst.
    std::function<void(const OpenWindows::Closed&)> on_window;
    // A message's time and transfer time (ns), when it has been matched and has a latency.
    std::function<void(const Message&, std::int64_t time, std::int64_t transfer)> on_time = nullptr;
    // A call that waited for the other side of a message (MessageWaits); of a rank elsewhere with its site as it came.
    std::function<void(const CollectiveCall&)> on_wait = nullptr;
  };
  // Fills `measured`, which outlives it.
  Measurement(Measured& measured, const PipelineOptions& options, Hooks hooks);
  ~Measurement();

  void set_tick_scale(TickScale scale);
  void set_place(std::int32_t rank, std::int32_t node);  // index into Application::nodes
  // Events of one recording thread in the order of its ring. Events of one rank's threads come in any interleaving.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Messages that an earlier run stored: enters behind matching. Their flags are kept as stored.
  void add_messages(std::span<const Message> messages);
  // Drops that the rings counted, totals so far.
  void set_dropped(std::int32_t rank, std::uint64_t dropped_total);
  void set_buffer(std::int32_t rank, const BufferUse& use);
  // Segment header: `threads` is many; `muted` of one of the rank's threads, read after its rings (each round).
  void set_threads(std::int32_t rank, bool several);
  void set_muted(std::int32_t rank, bool muted);

  // Matches what can be matched, and closes windows that ended before `now_ns` (time axis of the events). Cheap when
  // nothing happened; call it often, so that little waits in memory.
  // `all_read`: since the last call with it, every ring was read to where its head stood at that call, and its drops
  // were told. Some receives must wait for that (docs/methods.md, "Matching"); most need not.
  void end_round(std::int64_t now_ns, bool all_read);
  // Several nodes: an epoch is over on all of them (Matcher::epoch_over); windows that end before `until_ns` are
  // complete. Returns up to when they were closed: less when messages are still missing (PipelineOptions::hold_ns).
  std::int64_t epoch_over(std::int64_t until_ns);
  // No more events will come: closes all windows, counts what never found a partner.
  void finish();
  void refresh_totals();

  // Matched messages received before it have been in a window that closed; INT64_MAX: all have.
  std::int64_t passed_until_ns() const;
  Matcher& matcher();
  const Matcher& matcher() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope
