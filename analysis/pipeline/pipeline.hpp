// START HERE. The whole analysis, free of MPI, ZeroMQ and HDF5: events in, messages and snapshots out.
//
//   rings ─▶ collect ─▶ add()
//     measurement:  match ─▶ criteria ─▶ window, judged
//     evaluation:   region ─▶ attribute, order, delay ─▶ snapshot(), dag() ─▶ wire
//                       └▶ evolution, retention ─▶ on_messages, on_calls, on_mpi_calls, on_window ─▶ store
//
// A Pipeline is both in series: a job on one node, or a file. Of a job on several nodes each node has a Measurement,
// and the root the Evaluation (analysis/nodes/).
//
// Threads: none inside; one thread owns a Pipeline. Memory: that of its parts.
#pragma once

#include "analysis/pipeline/evaluation.hpp"
#include "analysis/pipeline/measurement.hpp"

namespace pclscope {

class Pipeline {
 public:
  Pipeline(Application application, const PipelineOptions& options);

  void set_tick_scale(TickScale scale);
  // The rank has shown up on a node (index into Application::nodes, which grows as needed).
  void set_node(std::int32_t rank, const std::string& node);
  void set_mpi(const std::string& mpi) { measured_.application.mpi = mpi; }
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  void add_messages(std::span<const Message> messages) { measurement_.add_messages(messages); }
  void end_round(std::int64_t now_ns, bool all_read = true) { measurement_.end_round(now_ns, all_read); }
  // No more events will come: closes the last window, counts what never found a partner.
  void finish();

  Snapshot snapshot() const { return evaluation_.snapshot(); }
  const Measured& measured() const { return measured_; }
  // How long a rank polled in vain, beside its events.
  void set_polled(std::function<std::int64_t(std::int32_t rank)> ns) { measured_.polled_ns = std::move(ns); }
  Measurement& measurement() { return measurement_; }
  const Measurement& measurement() const { return measurement_; }
  Evaluation& evaluation() { return evaluation_; }
  const Evaluation& evaluation() const { return evaluation_; }

 private:
  void close(const OpenWindows::Closed& closed);

  Measured measured_;
  Evaluation evaluation_;
  Measurement measurement_;  // tells the evaluation
};

}  // namespace pclscope
