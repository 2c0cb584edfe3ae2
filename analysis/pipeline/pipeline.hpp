// START HERE. The whole analysis, free of MPI, ZeroMQ and HDF5: events in, messages and snapshots out.
//
//   rings ─▶ collect ─▶ add() ─▶ match ─▶ criteria ─▶ window ─▶ region ─▶ order, delay ─▶ snapshot(), dag() ─▶ wire
//                                   └▶ on_calls ─▶ store   └▶ evolution, retention ─▶ on_messages, on_window ─▶ store
//
// pipeline_windows.cpp has what happens when a window closes, pipeline_snapshot.cpp the results. Of a job on several
// nodes each node runs a Pipeline of role `node` up to the closing of windows, and the root one of role `job` that goes
// on from there (pipeline_nodes.cpp, analysis/nodes/).
//
// Threads: none inside; one thread owns a Pipeline. Memory is bounded by ranks, channels in use, outstanding
// messages and the configured history, not by run time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/dag.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/part.hpp"
#include "analysis/values/result.hpp"
#include "analysis/values/snapshot.hpp"
#include "analysis/values/tick_scale.hpp"
#include "interpose/record/event.hpp"

namespace pclscope {

enum class PipelineRole : std::uint8_t {
  whole,  // of a job on one node, or of a file
  node,   // events in; parts of windows out (on_part, take_report)
  job,    // reports and parts in
};

struct PipelineOptions {
  PipelineRole role = PipelineRole::whole;
  std::int64_t window_ns = 100'000'000;
  std::uint32_t history_windows = 600;  // kept per region for snapshots
  std::uint32_t worst_messages = 20;
  std::int64_t allowance_ns = 20'000'000;  // a window closes this long after its end: messages are read a little later
  RegionOptions regions;                   // method and its parameters
  // Which messages go to on_messages (analysis/window/retention.hpp), and how many stay in memory for dag().
  Keep keep = Keep::all;
  std::uint64_t file_budget_bytes = std::uint64_t{1} << 60;
  std::size_t memory_bytes = std::size_t{256} << 20;
  // Attributing waits to where they began (analysis/delay/) may take this share of wall time; windows for which there
  // is none are left out, and counted. 0: never, 1: always.
  double delay_share = 1;
  double order_share = 1;           // the same for vector clocks of the messages in memory (analysis/order/)
  std::vector<Criterion> baseline;  // criteria of an earlier run, used instead of this run's medians
  // Turns the call sites of freshly matched messages (site_key.hpp) into ids. Without it they are 0, unknown.
  std::function<void(std::span<Message>)> name_sites;
  std::function<void(std::span<CollectiveCall>)> name_call_sites;  // the same for collectives
  // Messages that are kept, window by window (a window's `delayed` is decided when it closes), in the order in which
  // they were matched; those of some windows later than others. Without it none are kept but in memory.
  std::function<void(std::span<const Message>)> on_messages;
  // Collectives' calls that returned before the end of the window that closes, in that order.
  std::function<void(std::span<const CollectiveCall>)> on_calls;
  // Each closed window once, after its messages; of several windows in a row without a message only the last.
  std::function<void(const Window&)> on_window;
  // Role `node`: each closed window with messages, and those, judged.
  std::function<void(nodes::WindowPart&&, std::span<const Message>)> on_part;
  // Role `node`: whether events of collectives are taken care of (by whoever hands them to the job's pipeline).
  bool collectives_elsewhere = false;
};

class Matcher;
class RegionClocks;

class Pipeline {
 public:
  Pipeline(Application application, PipelineOptions options);
  ~Pipeline();

  void set_tick_scale(TickScale scale);
  // The rank has shown up on a node (index into Application::nodes, which grows as needed).
  void set_node(std::int32_t rank, const std::string& node);
  void set_mpi(const std::string& mpi);

  // Events of one recording thread in the order of its ring. Events of one rank's threads come in any interleaving.
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  // Messages that an earlier run stored: enters behind matching. Their flags are kept as stored.
  void add_messages(std::span<const Message> messages);
  // Drops that the rings counted, totals so far.
  void set_dropped(std::int32_t rank, std::uint64_t dropped_total);
  // Segment header: `threads` is many; `muted` of one of the rank's threads, read after its rings (each round).
  void set_threads(std::int32_t rank, bool several);
  void set_muted(std::int32_t rank, bool muted);

  // Matches what can be matched, closes windows that ended before `now_ns` (time axis of the events) and re-clusters
  // when the communication graph changed. Cheap when nothing happened; call it often, so that little waits in memory.
  // `all_read`: since the last call with it, every ring was read to where its head stood at that call, and its drops
  // were told. Some receives must wait for that (docs/methods.md, "Matching"); most need not.
  void end_round(std::int64_t now_ns, bool all_read = true);
  // No more events will come: closes the last window, counts what never found a partner.
  void finish();

  // --- role `node` ---
  // An epoch is over on all nodes (Matcher::epoch_over); windows that end before `until_ns` are complete.
  void epoch_over(std::int64_t until_ns);
  // Sums since the last call: pairs, times, sites, worst messages, totals, newest_ns. The rest is left as it is.
  void take_report(nodes::Report& report);
  // From the root: what a message normally takes; region's id by rank (-1 none).
  void set_criteria(const std::vector<Criterion>& criteria);
  void set_regions(std::vector<std::int32_t> region_of_rank);
  Matcher& matcher();

  // --- role `job` ---
  // Adds pairs, times, sites, worst messages, totals; rank and function statuses replace older ones.
  void add_report(const nodes::Report& report);
  // A window of all nodes is over. `messages`: of it, as far as they came; `all_there`: none is missing.
  void close_part(const nodes::WindowPart& part, std::span<const Message> messages, bool all_there);
  // All windows that begin before `until_ns` have been closed: collectives until then, where no message was.
  void closed_until(std::int64_t until_ns);
  void add_collective(std::int32_t rank, const record::Event& event);
  std::span<const std::int32_t> region_of_rank() const;
  std::uint64_t regions_version() const;            // grows when they change
  std::vector<Criterion> present_criteria() const;  // what a message normally takes now: a baseline's where it knows
  void set_place(std::int32_t rank, std::int32_t node);  // index of set_nodes()
  void set_nodes(std::vector<std::string> names);

  // Results so far. Live fields (calls, realtime) are filled in by the caller.
  Snapshot snapshot() const;
  // The dependency graph of a region in a period, from the messages in memory. Fails with not_found (no such region).
  Result<Dag> dag(const DagQuestion& question) const;
  // Vector clocks of a region's messages in memory: who happened before whom. nullptr: no such region, or too large.
  const RegionClocks* clocks(std::int32_t region) const;
  // The store tells how large the file is; a line, once, when messages begin to be left out because of the budget.
  void set_file_bytes(std::uint64_t bytes);
  void set_not_stored(std::uint64_t messages);  // of those given to on_messages
  std::optional<std::string> budget_bites();
  const MessageTotals& totals() const;
  // Matched messages received before it have passed all stages (on_messages); INT64_MAX: all have.
  std::int64_t passed_until_ns() const;
  std::size_t pairs() const;                 // of ranks that ever exchanged a message
  std::vector<PairTraffic> traffic() const;  // by source, then destination; messages of closed windows
  std::int32_t ranks() const;
  // What ranks wait for: Matcher's queries (analysis/match/matcher.hpp).
  const Matcher& matcher() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pclscope
