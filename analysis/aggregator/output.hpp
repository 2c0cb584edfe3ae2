// What goes out of the worker that has the job's results: the dump, and the wire. Owned by the worker's thread.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "analysis/aggregator/analysis.hpp"
#include "analysis/aggregator/broadcast.hpp"
#include "analysis/aggregator/options.hpp"
#include "analysis/collect/tick_clock.hpp"
#include "analysis/store/writer.hpp"

namespace pclscope::aggregator {

class Output {
 public:
  using Clock = std::chrono::steady_clock;

  // `clock` has the time axis of the results.
  Output(const Options& options, const collect::TickClock& clock) : options_(options), clock_(clock) {}

  void open();
  // What a pipeline with the results hands to the store, and its budgets.
  void hook(PipelineOptions& options);
  void set_mpi(const std::string& mpi) { broadcast_.set_mpi(mpi); }
  // Publishes, answers, flushes, as far as it is due. While nobody watches nothing is published: who comes or asks then
  // gets a snapshot that is made for it.
  void report(Clock::time_point now, Analysis& analysis);
  // The last snapshot: flushed at once, and again when the lines of call sites are known; then all is closed.
  void finish(Analysis& analysis, bool in_order);
  bool watched() const { return broadcast_.watched(); }

  std::uint32_t finalized_ranks = 0;     // known to the worker
  std::function<void()> on_first_flush;  // from now on the dump can be read

 private:
  enum class End { none, in_order, otherwise };  // of the job
  Snapshot snapshot(Analysis& analysis, End end);
  Snapshot last_snapshot(Analysis& analysis, bool in_order);
  void flush(Snapshot snapshot, Analysis& analysis);  // and the traffic of pairs of ranks with it
  void serve(Analysis& analysis);
  void publish(Analysis& analysis);
  bool flush_due(Clock::time_point now, std::uint64_t events);
  template <class Action>
  void store(Action action);

  const Options& options_;
  const collect::TickClock& clock_;
  std::unique_ptr<store::Writer> store_;
  Broadcast broadcast_;
  std::int64_t window_end_ns_ = 0;
  std::uint64_t sequence_ = 0;
  bool window_closed_ = false;
  Clock::time_point next_publish_{}, next_refresh_{}, next_flush_{}, next_silent_flush_{};
  std::chrono::milliseconds silent_pause_{0};
  std::uint64_t flushed_events_ = 0;
  std::size_t flushed_deadlocks_ = 0;
  bool ending_ = false;
  bool flushed_ = false;
  std::uint64_t next_flush_bytes_ = 0;
};

// One line on the job's stderr.
void complain(const std::string& line);

}  // namespace pclscope::aggregator
