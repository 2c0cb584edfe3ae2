// Measures the offset and drift of this node's clock against the root's, from the anchor's loop: short bursts of round
// trips to a parent in a tree (HCA3: the parent of node r is r without its lowest set bit; Hunold and Carpen-Amarie
// 2018). The parent's answer carries its own model against the root, through which the child's goes on: errors add, at
// most log2(nodes) of them. Bounds and estimates: analysis/collect/offset_estimator.hpp.
//
// One thread: that of the anchor's loop. Only nonblocking MPI calls, one ping in flight: a silent or dead parent stops
// the news and nothing else, as does an error that MPI returns; the error that GlobalClock states grows then. Others
// may use `comm` too, but must not receive or probe with MPI_ANY_TAG there (tags: clock_ping_tag, clock_pong_tag).
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "analysis/collect/clock_chain.hpp"
#include "analysis/nodes/link.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/segment.hpp"

namespace pclscope::aggregator {

constexpr int clock_ping_tag = 7101;
constexpr int clock_pong_tag = 7102;

class ClockSync {
 public:
  // `comm`: the aggregators' ranks, 0 the root. `news` is called from poll() after each burst, never on the root, whose
  // model is the identity. Local; MPI must be running until stop(). Asks the kernel for fast wake-ups of this thread.
  ClockSync(MPI_Comm comm, std::function<void(const nodes::ClockUpdate&)> news);
  ~ClockSync();  // as stop()
  ClockSync(const ClockSync&) = delete;
  ClockSync& operator=(const ClockSync&) = delete;

  // The clock that this node's recorders use and how the worker scales it (TickClock): only then anything is measured.
  // Again with other values: begins anew, here and in the nodes that measure through this one.
  void set_clock(record::ClockSource source, TickScale scale);
  // True: in the middle of a burst, call again at once. Else call every 2 ms or so; a burst lasts a few ms. In a burst
  // it may sleep for some 10 us itself.
  bool poll();
  bool in_burst() const { return in_burst_; }  // as the last poll() said
  // Ends all requests; the parent's last answer is waited for 20 ms at most. Before MPI_Finalize. poll() is then idle.
  void stop();

 private:
  struct Requests;  // buffers that MPI reads and writes
  enum class State { idle, waking, pinging };

  bool look();
  std::int64_t stamp() const;  // local axis
  void serve();
  void answer(int child);
  void ask();
  void begin_burst();
  void send_ping();
  void take_pong();
  void end_burst();

  std::unique_ptr<Requests> requests_;
  std::function<void(const nodes::ClockUpdate&)> news_;
  int rank_ = 0, parent_ = -1;
  bool stopped_ = false, in_burst_ = false;

  record::ClockSource source_ = record::ClockSource::monotonic;
  std::optional<TickScale> scale_;
  std::uint64_t generation_ = 0;  // of this node's axis and of those above, for its children: changed = begin anew
  collect::OffsetEstimator estimator_;
  std::optional<nodes::ClockUpdate> model_;  // against the root

  State state_ = State::idle;
  std::uint64_t number_ = 0;        // of the ping in flight, or the last one
  std::uint64_t first_number_ = 1;  // pings before are of an axis that is no more
  std::uint64_t bursts_ = 0;
  int left_ = 0;                // pings of this burst still to come
  bool sampled_ = false;        // in this burst
  bool naps_ = false;           // this burst: sleep between polls
  std::int64_t newest_ns_ = 0;  // t4 of the newest sample
  std::uint64_t parents_generation_ = 0;
  std::optional<nodes::ClockUpdate> parents_model_;     // at about the newest answer, parent's axis
  std::int64_t next_burst_ns_ = 0, spin_until_ns_ = 0;  // CLOCK_MONOTONIC
};

}  // namespace pclscope::aggregator
