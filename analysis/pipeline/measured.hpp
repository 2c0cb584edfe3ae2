// What a Measurement knows of the record so far, and an Evaluation goes by: sums, and what is known of ranks. Of a job
// on several nodes each node has its own, and the root one that it merges from their reports (analysis/nodes/). A
// value; one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/callsite/site_sums.hpp"
#include "analysis/criteria/criteria.hpp"
#include "analysis/pipeline/options.hpp"
#include "analysis/values/part.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/values/tick_scale.hpp"
#include "analysis/window/activity.hpp"
#include "analysis/window/pair_table.hpp"
#include "analysis/window/worst.hpp"

namespace pclscope {

struct Measured {
  Measured(Application app, const PipelineOptions& options)
      : application(std::move(app)),
        activity(application.ranks),
        dropped(static_cast<std::size_t>(application.ranks)),
        buffers(static_cast<std::size_t>(application.ranks)),
        worst(options.worst_messages, worst_memory_ns) {
    application.node_of_rank.resize(dropped.size(), -1);
    several_at_once.resize(dropped.size());
    criteria.load(options.baseline);
  }

  bool knows(std::int32_t rank) const { return rank >= 0 && rank < application.ranks; }
  // 0 when it has no latency.
  double ratio_of(const Message& m) const {
    if (m.flags & message_flag::no_latency) return 0;
    return static_cast<double>(m.time()) * criteria.inverse_ns(m.flags & message_flag::inter_node, m.bytes).time;
  }
  // For PairTable: by the criteria as of the last refresh.
  auto inverse() const {
    return [this](bool inter_node, std::uint32_t bin) { return criteria.inverse_of_bin(inter_node, bin); };
  }
  // Inside MPI, of calls of its first thread that have returned. Of a rank that is measured here.
  std::int64_t inside_ns(std::int32_t rank) const {
    const std::vector<std::uint64_t>& ticks = activity.rank(rank).mpi_ticks_of;
    return ticks.empty() ? 0 : static_cast<std::int64_t>(static_cast<double>(ticks[0]) * scale.ns_per_tick);
  }
  std::int64_t before_init_ns(std::int32_t rank) const {
    const auto i = static_cast<std::size_t>(rank);
    return i < told.size() ? told[i].before_init_ns : activity.rank(rank).before_init_ns;
  }
  // What the rank's node told of it, or what was measured here.
  nodes::RankStatus status_of(std::int32_t rank) const {
    const auto i = static_cast<std::size_t>(rank);
    if (i < told.size()) return told[i];
    nodes::RankStatus status;
    const Activity::Rank& here = activity.rank(rank);
    status.rank = rank;
    status.collectives = here.collectives;
    status.dropped_events = dropped[i];
    status.buffer = buffers[i];
    const auto ns = [&](std::uint64_t ticks) {
      return static_cast<std::int64_t>(static_cast<double>(ticks) * scale.ns_per_tick);
    };
    status.mpi_ns = ns(here.mpi_ticks) + polled_beside(rank);
    status.init_ns = ns(here.init_ticks);
    status.before_init_ns = here.before_init_ns;
    status.one_sided_ns = ns(here.one_sided_ticks);
    status.file_ns = ns(here.file_ticks);
    status.threads = threads_at_once(rank);
    status.finalized = here.finalized;
    if (here.came) {
      status.begin_ns = std::max<std::int64_t>(scale.to_ns(here.begin_ticks), 0);
      status.end_ns = std::max(scale.to_ns(here.end_ticks), status.begin_ns);
    }
    return status;
  }

  // Threads that call MPI in turn are in it as one would be: what they sum up to is the rank's time. 0: none came yet.
  std::uint32_t threads_at_once(std::int32_t rank) const {
    const std::uint32_t threads = activity.rank(rank).threads;
    return several_at_once[static_cast<std::size_t>(rank)] ? threads : std::min(threads, 1u);
  }
  // Samples may come to a little more than there was room for.
  std::int64_t polled_beside(std::int32_t rank) const {
    const Activity::Rank& here = activity.rank(rank);
    if (!polled_ns || !here.came || here.end_ticks < here.begin_ticks) return 0;
    const std::uint64_t ticks = (here.end_ticks - here.begin_ticks) * std::max(threads_at_once(rank), 1u);
    const std::uint64_t left = ticks - std::min(ticks, here.mpi_ticks);
    return std::min(polled_ns(rank), static_cast<std::int64_t>(static_cast<double>(left) * scale.ns_per_tick));
  }

  static constexpr std::int64_t worst_memory_ns = 10'000'000'000;

  Application application;  // nodes, and ranks' places on them, as they become known
  TickScale scale;          // of the events
  Activity activity;
  std::vector<bool> several_at_once;                         // by rank: MPI_THREAD_MULTIPLE
  std::vector<std::uint64_t> dropped;                        // events, by rank
  std::vector<BufferUse> buffers;                            // by rank
  std::function<std::int64_t(std::int32_t rank)> polled_ns;  // in polls that left no event; empty: not known
  std::vector<nodes::RankStatus> told;  // by rank: of a job on several nodes, at the root; else empty
  MessageTotals totals;                 // all but `delayed`, which is known when a window closes
  Criteria criteria;
  LogHistogram times;  // of all messages with a latency
  PairTable pairs;     // all closed windows, and the one that is being closed
  SiteSums sites;      // of closed windows
  WorstMessages worst;
  std::int64_t newest_ns = 0;  // time axis of the events: of what has been read
};

}  // namespace pclscope
