// How much of a node with many ranks its aggregators take when they share them: processor time of each, simulated one
// after the other in this thread, so that neither their number nor other processes count. One aggregator is a Pipeline,
// as in the worker; several are Nodes over a link in memory. Not in it: reading rings, MPI between anchors, the dump's
// writing, delays.
//
//     fat_node_benchmark [--quick] [--ranks N]
//
// Checked: every message is matched, whatever the number of aggregators. "kept": all messages go to the root, as in a
// dump with --keep all; else sums only.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

#include "analysis/nodes/job_ticks.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "benchmarks/replay/patterns.hpp"

using namespace pclscope;
using benchmark::Trace;

namespace {

constexpr int epochs_of_window = 5;
constexpr int slices_of_epoch = 10;  // rings are read in such, with pairing in between, as by the worker

double cpu_s() {
  timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

class Watch {  // adds the time that it lived
 public:
  explicit Watch(double& sum) : sum_(sum), begin_(cpu_s()) {}
  ~Watch() { sum_ += cpu_s() - begin_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  double& sum_;
  double begin_;
};

struct Outcome {
  std::vector<double> seconds;  // of each aggregator; the root first
  std::uint64_t matched = 0;
};

PipelineOptions analysis_of(const Trace& trace, bool kept) {
  PipelineOptions options;
  options.window_ns = static_cast<std::int64_t>(trace.ticks) * slices_of_epoch * epochs_of_window;
  options.allowance_ns = options.window_ns / epochs_of_window;
  options.delay_share = 0;
  options.at_leisure = false;
  options.clustering_share = 1e-9;  // once at first, and once at the end
  options.keep = kept ? Keep::all : Keep::summaries;
  if (kept) options.on_messages = [](std::span<const Message>) {};
  else options.memory_bytes = 0;
  return options;
}

Application job(const Trace& trace) {
  Application application;
  application.ranks = static_cast<std::int32_t>(trace.events.size());
  return application;
}

Outcome one(Trace trace, int epochs, bool kept) {
  Outcome outcome{{0}, 0};
  Pipeline pipeline(job(trace), analysis_of(trace, kept));
  pipeline.set_tick_scale(nodes::job_scale());
  for (std::size_t rank = 0; rank < trace.events.size(); ++rank)
    pipeline.set_node(static_cast<std::int32_t>(rank), "node");
  for (int i = 1; i <= epochs * slices_of_epoch; ++i, trace.advance()) {
    const Watch watch(outcome.seconds[0]);
    for (std::size_t rank = 0; rank < trace.events.size(); ++rank)
      pipeline.add(static_cast<std::int32_t>(rank), 0, trace.events[rank]);
    pipeline.end_round(static_cast<std::int64_t>(trace.ticks) * i, i % slices_of_epoch == 0);
  }
  pipeline.finish();
  outcome.matched = pipeline.snapshot().messages.matched;
  return outcome;
}

class Several {
 public:
  Several(Trace trace, int count, bool kept)
      : trace_(std::move(trace)),
        links_(count, count),
        outcome_{std::vector<double>(static_cast<std::size_t>(count)), 0} {
    for (int i = 0; i < count; ++i) {
      nodes::NodeOptions options;
      options.analysis = analysis_of(trace_, kept);
      options.application = job(trace_);
      options.everything = kept;
      if (!kept) options.root.raw_bytes_per_s = 1;
      options.report_every_ns = options.analysis.window_ns;
      nodes_.push_back(std::make_unique<nodes::Node>(links_.at(i), std::move(options)));
    }
  }
  Outcome run(int epochs) {
    for (int i = 1; i <= epochs * slices_of_epoch; ++i, trace_.advance()) {
      for (std::size_t rank = 0; rank < trace_.events.size(); ++rank) {
        const std::size_t who = rank * nodes_.size() / trace_.events.size();
        const Watch watch(outcome_.seconds[who]);
        nodes_[who]->rank_here(static_cast<std::int32_t>(rank), false);
        nodes_[who]->add(static_cast<std::int32_t>(rank), 0, trace_.events[rank], 0);
      }
      now_ += static_cast<std::int64_t>(trace_.ticks);
      if (i % slices_of_epoch == 0) epoch(true);
      else pair();
    }
    const std::vector<double> running = outcome_.seconds;  // the end is not what is asked
    for (int i = 0; i < 40; ++i) epoch(false);
    nodes_[0]->root()->finish();
    outcome_.seconds = running;
    outcome_.matched = nodes_[0]->root()->evaluation().snapshot().messages.matched;
    return outcome_;
  }

 private:
  void pair() {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Watch watch(outcome_.seconds[i]);
      nodes_[i]->pair();
    }
  }
  void epoch(bool open) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Watch watch(outcome_.seconds[i]);
      if (!nodes_[i]->over() && nodes_[i]->epoch_open()) nodes_[i]->end_epoch(now_, open);
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Watch watch(outcome_.seconds[i]);
      nodes::LinkEvent event;
      while (links_.at(static_cast<int>(i)).next(event)) nodes_[i]->take(std::move(event));
    }
  }

  Trace trace_;
  nodes::MemoryLinks links_;
  std::vector<std::unique_ptr<nodes::Node>> nodes_;
  Outcome outcome_;
  std::int64_t now_ = 0;
};

Trace trace_of(int ranks, int steps) {
  Trace trace = benchmark::halo(steps, ranks);
  for (auto& events : trace.events)
    for (record::Event& e : events) {
      e.begin = nodes::job_ticks(static_cast<std::int64_t>(e.begin));
      e.end = nodes::job_ticks(static_cast<std::int64_t>(e.end));
    }
  return trace;
}

bool measure(int ranks, int steps, int epochs) {
  bool right = true;
  const Trace trace = trace_of(ranks, steps);
  const std::uint64_t messages = trace.messages * static_cast<std::uint64_t>(epochs * slices_of_epoch);
  for (const bool kept : {false, true}) {
    for (const int count : {1, 2, 4, 6}) {
      if (count > ranks) continue;
      const Outcome outcome = count == 1 ? one(trace, epochs, kept) : Several(trace, count, kept).run(epochs);
      double all = 0, others = 0;
      for (const double s : outcome.seconds) all += s;
      for (std::size_t i = 1; i < outcome.seconds.size(); ++i) others = std::max(others, outcome.seconds[i]);
      const double root = outcome.seconds[0], million = static_cast<double>(messages) * 1e-6;
      std::printf(
          "%4d ranks  %s  %d aggregators: root %5.0f ms, busiest other %5.0f ms, all %5.0f ms per million "
          "messages; at most %.1f M messages/s\n",
          ranks, kept ? "kept" : "sums", count, root / million * 1e3, others / million * 1e3, all / million * 1e3,
          million / std::max(root, others));
      if (outcome.matched == messages) continue;
      std::printf("WRONG: %llu of %llu messages matched\n", static_cast<unsigned long long>(outcome.matched),
                  static_cast<unsigned long long>(messages));
      right = false;
    }
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> all = {64, 128, 192};
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) quick = true;
    else if (std::strcmp(argv[i], "--ranks") == 0 && i + 1 < argc) all = {std::max(8, std::atoi(argv[++i]))};
    else return std::printf("usage: fat_node_benchmark [--quick] [--ranks N]\n"), 2;
  }
  bool right = true;
  if (quick) all = {12};
  for (const int ranks : all) right = measure(ranks, quick ? 5 : 25, quick ? 12 : 25) && right;
  return right ? 0 : 1;
}
