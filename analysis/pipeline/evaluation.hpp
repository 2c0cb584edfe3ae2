// Windows of judged messages in, results out: regions, their evolution, delays, findings, order, what is kept. Once per
// job. evaluation_windows.cpp has what happens with a window, evaluation_snapshot.cpp the results.
//
// Threads: none inside; one thread owns an Evaluation. Memory is bounded by ranks, pairs of them and the configured
// history, not by run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/pipeline/load.hpp"
#include "analysis/pipeline/measured.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/latency_sums.hpp"
#include "analysis/values/result.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

class RegionClocks;

class Evaluation {
 public:
  // Reads `measured`, which outlives it, whenever something is asked of it.
  Evaluation(const Measured& measured, PipelineOptions options);
  ~Evaluation();

  // --- windows, oldest first ---
  struct ClosedWindow {
    std::int64_t begin_ns = 0;
    std::int64_t skipped = 0;  // windows without a message since the one closed before
    LatencySums all;
    std::span<const RegionSums> regions;  // by region_of_rank(); ascending
    std::span<const Message> messages;
    bool all_there = true;  // no message is missing
  };
  // The open window of Measured::pairs, which stands in its totals: into ranks, nodes, regions. Re-clusters when the
  // communication graph changed. `begin_ns`: of the window, later than those before (several nodes: of the newest
  // window whose messages are in it).
  void take_pairs(std::int64_t begin_ns);
  // Its sums have been taken.
  void close_window(const ClosedWindow& window);
  // All windows that begin before `until_ns` have been closed: collectives until then, where no message was.
  void closed_until(std::int64_t until_ns);
  // Events of collectives and communicators, of one rank in its order (others are ignored).
  void set_tick_scale(TickScale scale);
  void add_collectives(std::int32_t rank, std::span<const record::Event> events);
  // Events of one thread in the order of its ring: for on_mpi_calls.
  void add_calls(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Those of ranks elsewhere; and how many of theirs did not come, in sum.
  void add_calls(std::span<const MpiCall> calls);
  struct CallsLeftOut {
    std::uint64_t all = 0, shed = 0;  // shed, of all: for lack of time
  };
  void set_calls_elsewhere(const CallsLeftOut& left_out);
  // A call that waited, found by a Measurement of this process.
  void add_wait(const CollectiveCall& call);
  // In [begin, end) the rank was runnable but off its core for `off_ns`, outside MPI.
  void add_off_core(std::int32_t rank, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t off_ns);
  // What the windows that still come leave out.
  void set_load(Load load);
  // The windows that still come are the last: what is looked for in them takes its time.
  void last_windows();
  // No more will come.
  void finish();

  // --- results so far ---
  std::uint64_t events() const;  // that they are made of
  // Live fields (calls, realtime) are filled in by the caller.
  Snapshot snapshot() const;
  // The dependency graph of a region in a period, from the messages in memory. Fails with not_found (no such region).
  Result<Dag> dag(const DagQuestion& question) const;
  // Vector clocks of a region's messages in memory (analysis/order/clocks.hpp): who happened before whom. Computed when
  // they are asked for, which takes 0.1 to 3 us per message. nullptr: no such region, or too large.
  std::unique_ptr<const RegionClocks> clocks(std::int32_t region) const;
  std::size_t pairs() const;                             // of ranks that ever exchanged a message
  std::vector<PairTraffic> traffic() const;              // by source, then destination; messages of closed windows
  std::span<const std::int32_t> region_of_rank() const;  // id; -1 none
  std::uint64_t regions_version() const;                 // grows when they change
  CallsLeftOut calls_left_out() const;                   // neither given to on_mpi_calls, nor waiting

  // --- what the store tells ---
  void set_file_bytes(std::uint64_t bytes);
  void set_not_stored(std::uint64_t messages);  // of those given to on_messages
  // A line, once, when messages begin to be left out because of the budget.
  std::optional<std::string> budget_bites();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope
