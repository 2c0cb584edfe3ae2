// What can be set of the analysis; of a job on several nodes it is the same for all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/values/collective_call.hpp"
#include "analysis/values/message.hpp"
#include "analysis/values/mpi_call.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

inline constexpr double default_half_life_s = 600;  // docs/methods.md, "Regions"

struct PipelineOptions {
  // --- of a Measurement ---
  std::int64_t window_ns = 100'000'000;    // and of an Evaluation
  std::int64_t allowance_ns = 20'000'000;  // a window closes this long after its end: messages are read a little later
  // It waits for messages that are known to be missing: a receive completed, but its sender is inside the call still (a
  // Sendrecv that waits for its other half, a core that was lost) and has not told the send. At most so much longer.
  std::int64_t hold_ns = 10'000'000'000;
  std::uint32_t worst_messages = 20;
  std::size_t open_messages = 1'000'000;  // of windows that are not closed (window/open_windows.hpp)
  std::vector<Criterion> baseline;        // criteria of an earlier run, used instead of this run's medians
  // Turns the call sites of freshly matched messages (site_key.hpp) into ids. Without it they are 0, unknown.
  std::function<void(std::span<Message>)> name_sites;

  // --- of an Evaluation ---
  std::uint32_t history_windows = 600;       // kept per region for snapshots
  RegionOptions regions;                     // method and its parameters
  double half_life_s = default_half_life_s;  // after it a message counts half in the graph of regions; 0: never forgets
  // Which messages go to on_messages (analysis/window/retention.hpp), and how many stay in memory for dag().
  Keep keep = Keep::all;
  std::uint64_t file_budget_bytes = std::uint64_t{1} << 60;
  std::size_t memory_bytes = std::size_t{256} << 20;
  // Attributing waits to where they began (analysis/delay/) may take this share of wall time; windows for which there
  // is none are left out, and counted. 0: never, 1: always.
  double delay_share = 1;
  // And to log single calls, but with Keep::all: beyond that the calls of some windows are counted only.
  double calls_share = 1;
  static constexpr double calls_ahead_s = 0.1;  // of it, so much in advance
  bool at_leisure = true;  // else the job runs: stages that are costly (analysis/stages/) take their share of time only
  double clustering_share = 0.05;  // of wall time, for regions. 1: whenever the graph has changed
  std::function<void(std::span<CollectiveCall>)> name_call_sites;  // name_sites for collectives
  std::function<void(std::span<MpiCall>)> name_mpi_calls;          // and for all calls
  // Messages that are kept, window by window (a window's `delayed` is decided when it closes), in the order in which
  // they were matched; those of some windows later than others. Without it none are kept but in memory.
  std::function<void(std::span<const Message>)> on_messages;
  // Collectives' calls that returned before the end of the window that closes, in that order.
  std::function<void(std::span<const CollectiveCall>)> on_calls;
  // MPI calls of kept windows, as on_messages: of each window by rank, thread and begin. Without it, or without
  // on_messages, calls are not looked at one by one.
  std::function<void(std::span<const MpiCall>)> on_mpi_calls;
  // Each closed window once, after its messages; of several windows in a row without a message only the last.
  std::function<void(const Window&)> on_window;
};

}  // namespace pclscope
