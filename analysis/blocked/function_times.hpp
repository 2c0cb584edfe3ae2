// How much time ranks spend inside each MPI function, in total and per window. Exact definition: docs/methods.md,
// "Inside MPI functions".
//
// Calls that returned come as events. Calls that have not returned are added to what is shown, and forgotten again: the
// event will bring them. Polling calls (Test, Iprobe) leave an event only when they found something, which has the loop
// of polls before it if that was a wait. Other polls are sampled (sampled_polls.hpp).
//
// Each call goes on to the density of calls (density/pyramid.hpp), with the same intervals: its sums are those here.
//
// The same per call site, in total: of calls that returned, polling ones with the loop that they ended.
//
// One thread owns a FunctionTimes. Memory: windows x functions in use x 8 bytes, SiteTimes, and a Pyramid.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/blocked/sampled_polls.hpp"
#include "analysis/blocked/site_times.hpp"
#include "analysis/density/pyramid.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope::blocked {

// A thread that is inside a call.
struct InsideNow {
  std::int32_t rank;
  std::uint16_t function;
  std::uint64_t since;  // ticks
  std::uint32_t thread = 0;
};

class FunctionTimes {
 public:
  FunctionTimes(std::int32_t ranks, std::int64_t window_ns, std::uint32_t windows = 600);

  void set_tick_scale(TickScale scale);
  // Events of one thread in the order of its ring.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Who is inside what now: the time since the last sample is that of those that poll.
  void sample(std::span<const InsideNow> inside, std::uint64_t now);
  // No event comes any more.
  void end();
  // Of a rank, all its threads: in polls that found nothing, outside of loops that an event told. Sampled.
  std::uint64_t polled_ticks(std::int32_t rank) const;

  const SiteTimes& sites() const { return sites_; }
  density::Pyramid& density() { return density_; }
  const density::Pyramid& density() const { return density_; }
  // The density's axis is that of the ticks, plus so much.
  void set_axis_shift(std::int64_t ns) { axis_shift_ns_ = ns; }
  // Calls that leave an event when they return, and polls of which it is not known whether an event will have them; on
  // the density's axis.
  std::vector<density::Pyramid::Running> running(std::span<const InsideNow> inside, std::uint64_t now) const;

  // Most time first. The last window of the histories is the newest that ended before now - allowance.
  std::vector<FunctionActivity> list(std::span<const InsideNow> inside, std::uint64_t now) const;

 private:
  static constexpr std::uint16_t most_functions = 1024;  // numbers beyond are not believed
  static constexpr std::uint32_t most_threads = 1024;    // of one rank
  static constexpr std::uint16_t unused = 0xffff;

  class Shown;
  struct Function {
    std::uint16_t number = 0;
    std::uint16_t place = 0;  // in the density
    std::uint64_t calls = 0;
    std::uint64_t ticks = 0;
    std::vector<std::uint64_t> windows;  // ticks per window, a ring
  };
  struct Thread {
    std::uint64_t covered = 0;  // end of the newest interval counted
    std::uint64_t begin = 0;    // of the newest call counted
    std::uint16_t function = 0;
  };

  Function& function(std::uint16_t number);
  void decide_polls(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  void take_poll(std::int32_t rank, const SampledPolls::Look& look);
  void spread(Function& f, std::uint64_t begin, std::uint64_t end);
  std::int64_t axis_ns(std::uint64_t ticks) const { return scale_.to_ns(ticks) + axis_shift_ns_; }
  void advance(std::int64_t window);
  void turn_to(std::int64_t window);
  std::int64_t window_of(std::uint64_t ticks) const;
  std::uint64_t begin_of(std::int64_t window) const;  // ticks
  std::size_t slot(std::int64_t window) const { return static_cast<std::size_t>(window) % windows_; }

  std::int32_t ranks_;
  double window_ns_;
  std::size_t windows_;
  TickScale scale_;
  double ticks_per_window_ = 1;
  std::array<std::uint16_t, most_functions> index_;  // by number
  std::vector<Function> functions_;
  std::vector<std::vector<Thread>> threads_;  // by rank
  SampledPolls polls_;
  std::vector<std::uint64_t> polled_;  // by rank: ticks, decided
  SiteTimes sites_;
  density::Pyramid density_;
  std::int64_t axis_shift_ns_ = 0;
  std::int64_t newest_ = -1;  // window; the ring holds it and those before it
  // The window that events fall into most of the time.
  std::size_t at_slot_ = 0;
  std::uint64_t at_begin_ = 1, at_end_ = 0;  // ticks
  std::uint64_t sampled_ = 0;
};

}  // namespace pclscope::blocked
