// What an Evaluation owns: the stages in the order in which a window passes them. Private to evaluation*.cpp.
#pragma once

#include <chrono>
#include <deque>
#include <limits>
#include <optional>
#include <utility>

#include "analysis/attribute/attributor.hpp"
#include "analysis/delay/delays.hpp"
#include "analysis/match/collectives.hpp"
#include "analysis/pipeline/evaluation.hpp"
#include "analysis/pipeline/run_ratios.hpp"
#include "analysis/region/change.hpp"
#include "analysis/region/pattern_watch.hpp"
#include "analysis/stages/stage.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/window/call_log.hpp"
#include "analysis/window/node_links.hpp"
#include "analysis/window/recent_messages.hpp"
#include "analysis/window/region_series.hpp"
#include "analysis/window/retention.hpp"

namespace pclscope {

inline constexpr double live_margin = 1e-3;   // modularity by which new regions must be better
inline constexpr double ratios_share = 0.02;  // of wall time, for ratios by the criteria of now

struct Evaluation::State {
  State(const Measured& what, PipelineOptions opts)
      : measured(what),
        application(what.application),
        options(std::move(opts)),
        window_ns(std::max<std::int64_t>(options.window_ns, 1)),
        collectives(application.ranks, [this](std::span<const CollectiveCall> calls) { take_calls(calls); }),
        regions(application.ranks, options.history_windows),
        ratios(options.delay_share < 1 ? ratios_share : 1),
        delays(application.ranks),
        delay_time(options.delay_share),
        calls_time(options.keep == Keep::all ? 1 : options.calls_share, PipelineOptions::calls_ahead_s),
        recent(options.memory_bytes / 4),
        retention(
            options.on_messages ? options.keep : Keep::summaries, options.file_budget_bytes, options.memory_bytes / 2,
            [this](std::span<const Message> kept) { options.on_messages(kept); }, options.on_mpi_calls),
        ranks(static_cast<std::size_t>(application.ranks)),
        attributor(application.ranks, attributor_options()),
        stages(make_stages(application.ranks)),
        watch(application.ranks) {
    delays.tell(&attributor);
    if (options.on_messages && options.on_mpi_calls && options.keep != Keep::summaries)
      call_log.emplace(application.ranks, window_ns);
  }

  // --- the stages, in the order in which a window passes them ---
  void take_pairs(std::int64_t begin_ns);
  void fold_ranks();
  void watch_pattern(std::int64_t begin_ns);
  bool recluster(bool whatever_it_costs);  // whether the regions changed
  void close_window(const ClosedWindow& closed);
  void take_calls(std::span<const CollectiveCall> calls);  // a completed collective's: they wait for their window
  void close_calls(std::int64_t end_ns);
  // Into the stages; and closing_calls.
  void look(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages);
  void look_at_rest();  // into the stages: closing_calls alone, whatever their windows are
  std::pair<std::int64_t, std::int64_t> rest() const;  // [first, last] end of closing_calls, with the newest event
  void attribute(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages);  // and closing_calls
  void attribute_rest();                                                         // closing_calls, at the end
  void follow_delays(std::span<const Message> messages, std::int64_t until_ns);  // and closing_calls
  void keep(const ClosedWindow& closed, Window& window, std::uint64_t number);
  void keep_calls(std::int64_t end_ns);  // those that returned before it, with the window that is kept next
  void shed_calls();

  attribute::AttributorOptions attributor_options();
  std::optional<attribute::BetterMapping> better_mapping() const;
  std::optional<WhatIf> without(const Finding& finding,
                                const attribute::BetterMapping* mapping) const;  // replayed, of what is in memory
  void remember_calls();                                                         // closing_calls, for that

  const Measured& measured;
  const Application& application;  // of `measured`
  PipelineOptions options;
  std::int64_t window_ns;
  Collectives collectives;
  RegionSeries regions;
  NodeLinks node_links;
  RunRatios ratios;
  Delays delays;
  TimeShare delay_time, calls_time;
  bool no_time_for_calls = false;  // until the next window
  RecentMessages recent;
  MessageRetention retention;
  std::optional<CallLog> call_log;  // where calls are kept
  Evaluation::CallsLeftOut calls_elsewhere;
  std::vector<CollectiveCall> calls, closing_calls;  // of windows that are open; of the one that is being closed
  std::deque<CollectiveCall> recent_calls;           // the newest, by the windows in which they returned
  std::int64_t calls_from_ns = std::numeric_limits<std::int64_t>::min();  // all that returned from then on are there
  std::uint64_t collectives_completed = 0;

  struct RankSums {
    LatencySums sent, received;
  };
  std::vector<RankSums> ranks;
  attribute::Attributor attributor;  // findings
  std::vector<std::unique_ptr<Stage>> stages;
  std::int64_t closed_ns = INT64_MIN;  // begin of the newest window that was closed
  Load load = Load::ordinary;
  bool ending = false, finished = false;

  bool regions_changed = false;  // since a window was closed
  std::uint64_t regions_version = 0;
  GraphChange change;  // of the pattern, since the regions were made
  PatternWatch watch;
  RecentWindows recent_pairs;
  std::vector<PatternWatch::Count> counts;  // of the open window
  std::int64_t watched_ns = INT64_MIN;      // begin of the newest window of pairs
  double to_forget = 0;                     // half-lives since weights last decayed
  std::chrono::steady_clock::time_point next_clustering{};
};

}  // namespace pclscope
