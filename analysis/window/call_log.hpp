// The MPI calls of a job's ranks, one by one, until their window closes: made of events, as calls are counted
// (docs/methods.md, "Inside MPI functions"). A call belongs to the window in which it returned.
//
// Memory: about 16 bytes for each call that waits, at most `most` of them (what is beyond is counted and left out), and
// about 150 per thread and open window. One thread owns a CallLog.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "analysis/values/mpi_call.hpp"
#include "analysis/values/tick_scale.hpp"
#include "analysis/window/packed_calls.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class CallLog {
 public:
  static constexpr std::size_t most_waiting = 4'000'000;
  using Sink = std::function<void(std::span<MpiCall>)>;

  CallLog(std::int32_t ranks, std::int64_t window_ns, std::size_t most = most_waiting);

  void set_tick_scale(TickScale scale) { scale_ = scale; }
  // Calls that come from now on are counted only: there is no time for them.
  void shed(bool on) { shedding_ = on; }
  // Events of one thread in the order of its ring.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);

  // A call that another log has made.
  void add(const MpiCall& call);

  // Takes those that returned before `end_ns`, or whose window was over at an earlier take(). Returns how many.
  std::uint64_t take(std::int64_t end_ns);
  // What the last take() took, in batches: by rank, thread, begin. Sites are addresses (Event::site). The sink may
  // write into them.
  void each_taken(const Sink& sink);

  std::uint64_t waiting() const { return waiting_; }
  std::uint64_t left_out() const { return left_out_; }  // shed ones included
  std::uint64_t shed() const { return shed_; }

 private:
  static constexpr std::uint32_t most_threads = 1024;  // of one rank
  struct Thread {
    MpiCall call;                          // the newest; more events of it may come
    std::uint64_t begin = 0, covered = 0;  // ticks: as it was told; until when its calls reach
    std::uint32_t slot = 0;                // its place in a Window
    bool known = false;                    // `slot` is
    bool open = false;                     // `call` is not in a window yet
    bool follows = false;                  // nothing is missing between its calls
  };
  using Window = std::vector<PackedCalls>;  // by slot

  Thread* thread_of(std::int32_t rank, std::uint32_t thread);  // null: no such rank
  MpiCall posted(const Thread& t, const record::Event& e) const;
  void add(Thread& t, const record::Event& e);
  void merge(Thread& t, const record::Event& e);
  void count_only(Thread& t, std::span<const record::Event> events);
  void close(Thread& t);
  void keep(const MpiCall& call, std::uint32_t slot);
  Window& window_of(std::int64_t end_ns);
  void take_window(Window& window, std::int64_t end_ns);
  void reuse(Window& window);

  std::int32_t ranks_;
  std::int64_t window_ns_;
  std::uint64_t most_;
  TickScale scale_;
  std::vector<std::vector<Thread>> threads_;  // by rank
  std::uint32_t slots_ = 0;
  std::map<std::int64_t, Window> windows_;  // by number, those that are open
  std::vector<Window> taken_;               // by time
  std::vector<Window> spare_;               // emptied: memory that is new costs as much as all else
  std::vector<MpiCall> of_thread_, batch_;  // for each_taken()
  std::int64_t taken_until_ns_ = INT64_MIN;
  Window* at_ = nullptr;  // the window that most calls fall into
  std::int64_t at_begin_ns_ = 0;
  std::uint64_t waiting_ = 0, taken_calls_ = 0;
  std::uint64_t left_out_ = 0, shed_ = 0;
  bool shedding_ = false;
};

}  // namespace pclscope
