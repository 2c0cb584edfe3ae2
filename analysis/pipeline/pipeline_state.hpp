// What a Pipeline owns: the stages in the order in which a message passes them. Private to pipeline*.cpp.
#pragma once

#include <chrono>
#include <unordered_map>
#include <utility>

#include "analysis/attribute/attributor.hpp"
#include "analysis/callsite/site_sums.hpp"
#include "analysis/criteria/criteria.hpp"
#include "analysis/delay/delays.hpp"
#include "analysis/match/collectives.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/order/job_clocks.hpp"
#include "analysis/pipeline/pipeline.hpp"
#include "analysis/region/change.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/window/activity.hpp"
#include "analysis/window/node_links.hpp"
#include "analysis/window/open_windows.hpp"
#include "analysis/window/pair_table.hpp"
#include "analysis/window/recent_messages.hpp"
#include "analysis/window/region_series.hpp"
#include "analysis/window/retention.hpp"
#include "analysis/window/worst.hpp"

namespace pclscope {

inline constexpr std::int64_t worst_memory_ns = 10'000'000'000;
inline constexpr double live_margin = 1e-3;  // modularity by which new regions must be better
inline constexpr double final_margin = 1e-9;

struct Pipeline::State {
  State(Application app, PipelineOptions opts)
      : application(std::move(app)),
        options(std::move(opts)),
        matcher(application.ranks,
                [this](std::span<const Message> matched) {
                  batch.assign(matched.begin(), matched.end());
                  name_sites();
                  measure();
                }),
        collectives(application.ranks, [this](std::span<const CollectiveCall> calls) { take_calls(calls); }),
        activity(application.ranks),
        windows(std::max<std::int64_t>(options.window_ns, 1), options.allowance_ns),
        regions(application.ranks, options.history_windows),
        worst(options.worst_messages, worst_memory_ns),
        delays(application.ranks),
        delay_time(options.delay_share),
        order_time(options.order_share),
        clocks(options.memory_bytes / 8),
        recent(options.memory_bytes / 4),
        retention(options.on_messages ? options.keep : Keep::summaries, options.file_budget_bytes,
                  options.memory_bytes / 2, [this](std::span<const Message> kept) { options.on_messages(kept); }),
        ranks(static_cast<std::size_t>(application.ranks)),
        dropped(ranks.size()),
        attributor(application.ranks, attributor_options()) {
    application.node_of_rank.resize(ranks.size(), -1);
    region_of_rank.resize(ranks.size(), -1);
    criteria.load(options.baseline);
    delays.tell(&attributor);
  }

  // --- the stages, in the order in which a message passes them ---
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  void name_sites();  // of the batch: addresses become ids
  void measure();     // the batch: time it, put it into its window
  void close_windows(std::int64_t now_ns);
  void close_window(OpenWindows::Closed& closed);  // judge its messages, fold them into pairs
  double ratio_of(const Message& message) const;   // 0 when it has no latency
  double judge(Message& message);
  void hand_on(OpenWindows::Closed& closed);  // role `node`
  void count_time(const Message& message, std::int64_t time, std::int64_t transfer);
  void keep_worst();
  // Of a window whose sums are folded: regions, clocks, delays, memory and file.
  struct ClosedWindow {
    std::int64_t begin_ns = 0;
    std::int64_t skipped = 0;
    LatencySums all;
    std::span<const RegionSums> sums;
    std::span<const Message> messages;
    bool all_there = true;  // no message is missing
  };
  void finish_window(const ClosedWindow& closed);
  void fold_pairs();  // the open window of `pairs`: totals, ranks, regions
  void follow_delays(std::span<const Message> messages, std::int64_t until_ns);  // and closing_calls
  void order(std::span<const Message> messages, std::int64_t until_ns, bool all_there);
  void keep(const ClosedWindow& closed, const Window& window, std::uint64_t number);
  void attribute(std::int64_t begin_ns, std::int64_t end_ns, std::span<const Message> messages);  // and closing_calls
  void attribute_rest();  // closing_calls, at the end
  attribute::AttributorOptions attributor_options();
  double inside_mpi_s(std::int32_t rank) const;
  std::optional<attribute::BetterMapping> better_mapping() const;
  void fold_ranks();
  void take_calls(std::span<const CollectiveCall> calls);  // a completed collective's: they wait for their window
  void close_calls(std::int64_t end_ns);
  void recluster(double margin, bool whatever_it_costs);
  void refresh_totals();
  bool knows(std::int32_t rank) const { return rank >= 0 && rank < application.ranks; }

  Application application;
  PipelineOptions options;
  TickScale scale;
  Matcher matcher;
  Collectives collectives;
  Activity activity;
  Criteria criteria;
  OpenWindows windows;
  PairTable pairs;
  RegionSeries regions;
  NodeLinks node_links;
  WorstMessages worst;
  SiteSums sites;
  LogHistogram times;          // of all messages with a latency
  std::vector<Message> batch;  // being measured
  Delays delays;
  TimeShare delay_time, order_time;
  JobClocks clocks;
  RecentMessages recent;
  MessageRetention retention;
  std::vector<CollectiveCall> calls, closing_calls;  // of windows that are open; of the one that is being closed
  CollectiveTotals collective_totals;

  struct RankSums {
    LatencySums sent, received;
    std::int64_t collective_wait_ns = 0;
  };
  std::vector<RankSums> ranks;
  std::vector<std::uint64_t> dropped;
  attribute::Attributor attributor;  // findings
  MessageTotals totals;
  std::uint64_t from_file = 0;  // messages that came matched
  double ratio_sum = 0;
  std::uint64_t timed = 0;
  std::int64_t newest_ns = 0;
  bool finished = false;

  // Role `node`: since the last report.
  struct Unsent {
    PairTable pairs;
    SiteSums sites;
    std::unordered_map<std::uint64_t, std::uint64_t> times;  // by class, kind, bin, bucket
    std::vector<nodes::RatedMessage> worst;
    MessageTotals told;  // totals as of then
  };
  Unsent unsent;
  std::vector<std::int32_t> region_of_rank;  // as the root says
  // Role `job`.
  std::vector<nodes::RankStatus> statuses;
  std::int64_t last_part_ns = INT64_MIN;
  std::uint64_t collectives_left_out = 0;
  std::uint64_t regions_version = 0;

  bool regions_changed = false;  // by the window being closed
  GraphChange change;            // since the regions were made
  std::chrono::steady_clock::time_point next_clustering{};
};

}  // namespace pclscope
