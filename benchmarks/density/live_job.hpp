// A running job on three simulated nodes whose ranks call MPI: nodes::Node with the density of its calls, a root that
// publishes and answers. One process (live.cpp).
#pragma once

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/nodes/memory_link.hpp"
#include "analysis/nodes/node.hpp"
#include "analysis/wire/encode.hpp"
#include "analysis/wire/publisher.hpp"

namespace pclscope::benchmark {

using Clock = std::chrono::steady_clock;

inline constexpr int nodes_here = 3;
inline constexpr std::int64_t past_ns = 60'000'000'000, tick_ns = 100'000'000;
inline constexpr int status_ticks = 5;                  // as the aggregator: every 500 ms
inline constexpr std::size_t news_bytes = 32 << 10;     // the same
inline constexpr std::int32_t calls_per_s = 1'500'000;  // of all ranks

inline double processor_s(clockid_t clock) {
  timespec time;
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
inline double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

struct Fed {
  std::uint64_t calls = 0, ns = 0;
  bool operator==(const Fed&) const = default;
};
inline Fed sums_of(const CallDensity& d) {
  Fed sums;
  std::uint64_t starts = 0;
  for (const auto& i : d.inside) sums.ns += i.ns;
  for (const auto& c : d.calls) sums.calls += c.ends, starts += c.starts;
  return starts == sums.calls ? sums : Fed{};
}

// What the job tells when it is over; through a pipe.
struct JobFigures {
  Fed fed;
  std::uint64_t between_nodes = 0, density_between_nodes = 0, snapshots = 0, snapshot_bytes = 0, parts = 0,
                part_bytes = 0;
  double live_s = 0, root_s = 0, parts_s = 0, worst_part_s = 0;
  std::uint64_t past_between_nodes = 0;
};

class Job {
 public:
  Job(std::int32_t ranks, const std::string& endpoint)
      : ranks_(ranks), links_(nodes_here), next_(static_cast<std::size_t>(ranks), 0) {
    for (int node = 0; node < nodes_here; ++node) {
      nodes::NodeOptions o;
      o.application.ranks = ranks;
      o.application.node_of_rank.assign(static_cast<std::size_t>(ranks), -1);
      o.analysis.window_ns = tick_ns;
      o.site_of = [](std::int32_t, std::uint64_t, std::uint16_t) { return 0u; };
      nodes_.push_back(std::make_unique<nodes::Node>(links_.at(node), std::move(o)));
      nodes_.back()->news().names.push_back({node, "node" + std::to_string(node), "MPI"});
      for (std::int32_t r = first(node); r < first(node + 1); ++r) nodes_.back()->rank_here(r, false);
    }
    auto bound = wire::Publisher::bind(endpoint);
    if (!bound) std::fprintf(stderr, "density_live_benchmark: %s\n", bound.error().message.c_str()), std::exit(1);
    publisher_ = std::move(*bound);
    origin_ns_ = std::chrono::system_clock::now().time_since_epoch().count();
  }

  // Up to `until` ns of the job's axis. True: nodes have sent what they had.
  bool advance(std::int64_t until) {
    for (int node = 0; node < nodes_here; ++node)
      for (std::int32_t r = first(node); r < first(node + 1); ++r) call(pyramids_[node], r, until);
    now_ns_ = until;
    ++ticks_;
    for (int node = 0; node < nodes_here; ++node) {
      nodes::Node& n = *nodes_[static_cast<std::size_t>(node)];
      if (ticks_ % status_ticks == 0) {
        density::add(n.news().density, pyramids_[node].take());
        density::fit(n.news().density, news_bytes);
        if (counting && node > 0) figures.density_between_nodes += density::packed_bytes(n.news().density);
        n.news().newest_ns = until;
        for (std::int32_t r = first(node); r < first(node + 1); ++r) {
          nodes::RankStatus status = n.measured().status_of(r);
          status.begin_ns = 0;
          status.end_ns = until;
          n.news().ranks.push_back(std::move(status));
        }
      }
      n.end_epoch(until, true);
    }
    listen();
    return ticks_ % status_ticks == 0;
  }
  void flush() {
    for (int i = 0; i < 3 * status_ticks; ++i) advance_nothing();
  }
  void publish() {
    nodes::Root& root = *nodes_[0]->root();
    Snapshot s = root.evaluation().snapshot();
    s.job = "density-live";
    s.time_origin_realtime_ns = origin_ns_;
    s.duration_s = static_cast<double>(now_ns_) * 1e-9;
    s.live.window_s = 0.1;
    s.live.sequence = ++sequence_;
    s.live.window_end_realtime_ns = origin_ns_ + now_ns_;
    root.fill(s);
    publisher_->publish(s);
    if (!counting) return;
    ++figures.snapshots;
    figures.snapshot_bytes += encoder_.snapshot(s).size();
  }
  void serve() {
    publisher_->serve({}, {}, {}, [this](const DensityQuestion& question) {
      const double begin = processor_s(CLOCK_THREAD_CPUTIME_ID);
      DensityPart part = nodes_[0]->root()->density(question);
      const std::size_t bytes = encoder_.density(part).size();  // once more when it is sent
      const double took = processor_s(CLOCK_THREAD_CPUTIME_ID) - begin;
      ++figures.parts;
      figures.part_bytes += bytes;
      figures.parts_s += took;
      figures.worst_part_s = std::max(figures.worst_part_s, took);
      return part;
    });
  }
  std::uint64_t between_nodes() const {
    std::uint64_t bytes = 0;
    for (int node = 0; node < nodes_here; ++node)
      bytes += const_cast<nodes::MemoryLinks&>(links_).at(node).traffic().bytes;
    return bytes;
  }
  double root_s = 0;  // of node 0's link events: merging, adding up
  JobFigures figures;
  bool counting = false;

 private:
  std::int32_t first(int node) const { return static_cast<std::int32_t>(std::int64_t{ranks_} * node / nodes_here); }
  void advance_nothing() {
    for (auto& node : nodes_) node->end_epoch(now_ns_, true);
    listen();
  }
  void listen() {
    for (std::size_t node = nodes_.size(); node-- > 0;) {
      const double begin = processor_s(CLOCK_THREAD_CPUTIME_ID);
      nodes::LinkEvent event;
      while (links_.at(static_cast<int>(node)).next(event)) nodes_[node]->take(std::move(event));
      if (node == 0) root_s += processor_s(CLOCK_THREAD_CPUTIME_ID) - begin;
    }
  }
  // Short sends and receives, waits, a reduce. Waits are longer in every second five seconds.
  void call(density::Pyramid& to, std::int32_t rank, std::int64_t until) {
    constexpr std::uint16_t wait = 412, reduce = 15, functions[] = {246, 255, wait, 300, wait, reduce};
    std::int64_t& at = next_[static_cast<std::size_t>(rank)];
    const std::int64_t mean = std::int64_t{1'000'000'000} * ranks_ / calls_per_s;  // between begins of a rank
    while (at < until) {
      random_ = random_ * 6364136223846793005u + 1442695040888963407u;
      const double some = static_cast<double>(random_ >> 40) / (1 << 24);
      const std::uint16_t f = functions[(random_ >> 20) % std::size(functions)];
      const double part = f == reduce ? 0.4 : at / 5'000'000'000 % 2 == 1 ? 0.8 : 0.2;
      const auto length = static_cast<std::int64_t>(f == wait || f == reduce ? part * some * static_cast<double>(mean)
                                                                             : std::exp2(9 + 4 * some));
      to.call_inside(to.place(f), rank, at, at + length);
      ++figures.fed.calls;
      figures.fed.ns += static_cast<std::uint64_t>(length);
      at += std::max(mean / 2 + static_cast<std::int64_t>(some * static_cast<double>(mean)), length);
    }
  }

  std::int32_t ranks_;
  nodes::MemoryLinks links_;
  std::vector<std::unique_ptr<nodes::Node>> nodes_;
  density::Pyramid pyramids_[nodes_here];
  std::vector<std::int64_t> next_;  // by rank
  std::unique_ptr<wire::Publisher> publisher_;
  wire::Encoder encoder_;
  std::int64_t origin_ns_ = 0, now_ns_ = 0;
  std::uint64_t random_ = 3, sequence_ = 0;
  int ticks_ = 0;
};

// Writes its figures when all is fed, goes on answering, and ends when the viewer says so.
[[noreturn]] inline void run_job(std::int32_t ranks, const std::string& endpoint, double live_s, int told, int over) {
  char byte;
  if (::read(over, &byte, 1) != 1) std::_Exit(1);
  Job job(ranks, endpoint);
  for (std::int64_t t = tick_ns; t <= past_ns; t += tick_ns) job.advance(t);
  job.figures.past_between_nodes = job.between_nodes();
  job.root_s = 0;
  job.counting = true;
  const auto began = Clock::now();
  std::int64_t due = past_ns + tick_ns;
  while (ms_since(began) < live_s * 1e3) {
    if (static_cast<double>(due - past_ns) * 1e-6 <= ms_since(began)) {
      job.advance(due);
      due += tick_ns;
      job.publish();
    }
    job.serve();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  job.figures.live_s = ms_since(began) / 1e3;
  job.figures.root_s = job.root_s;
  job.figures.between_nodes = job.between_nodes() - job.figures.past_between_nodes;
  job.counting = false;
  while (!job.advance(due)) due += tick_ns;  // so that all is with the root
  job.flush();
  const JobFigures figures = job.figures;
  if (::write(told, &figures, sizeof figures) != sizeof figures) std::_Exit(1);
  for (std::thread watch([&] { std::_Exit(::read(over, &byte, 1) == 1 ? 0 : 1); });;) {
    job.publish();
    for (int i = 0; i < 20; ++i) {
      job.serve();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

}  // namespace pclscope::benchmark
