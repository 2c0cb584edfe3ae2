#include "analysis/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "analysis/callsite/site_sums.hpp"
#include "analysis/criteria/criteria.hpp"
#include "analysis/match/collectives.hpp"
#include "analysis/match/matcher.hpp"
#include "analysis/window/activity.hpp"
#include "analysis/window/open_windows.hpp"
#include "analysis/window/pair_table.hpp"
#include "analysis/window/region_series.hpp"
#include "analysis/window/worst.hpp"

namespace pclscope {

namespace {

constexpr std::size_t chunk_events = 256;  // read by several stages: stays in the nearest cache
constexpr std::size_t live_sites = 50;
constexpr std::int64_t worst_memory_ns = 10'000'000'000;
constexpr double live_margin = 1e-3;  // modularity by which new regions must be better
constexpr double final_margin = 1e-9;
constexpr double growth_to_recluster = 1.25;  // of all message counts, when no new pair turned up
constexpr double clustering_share = 0.05;     // of wall time

using Wall = std::chrono::steady_clock;

}  // namespace

struct Pipeline::State {
  State(Application app, PipelineOptions opts)
      : application(std::move(app)),
        options(std::move(opts)),
        matcher(application.ranks, [this](std::span<const Message> matched) {
                  batch.assign(matched.begin(), matched.end());
                  name_sites();
                  measure();
                }),
        collectives(application.ranks),
        activity(application.ranks),
        windows(std::max<std::int64_t>(options.window_ns, 1), options.allowance_ns),
        regions(application.ranks, options.history_windows),
        worst(options.worst_messages, worst_memory_ns),
        ranks(static_cast<std::size_t>(application.ranks)),
        dropped(ranks.size()) {
    application.node_of_rank.resize(ranks.size(), -1);
    criteria.load(options.baseline);
  }

  // --- the stages, in the order in which a message passes them ---
  void add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events);
  void name_sites();  // of the batch: addresses become ids
  void measure();     // the batch: time it, put it into its window
  void close_windows(std::int64_t now_ns);
  void close_window(OpenWindows::Closed& closed);  // judge its messages, fold them into pairs and regions
  double judge(Message& message);
  void fold_ranks();
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
  WorstMessages worst;
  SiteSums sites;
  LogHistogram times;          // of all messages with a latency
  std::vector<Message> batch;  // being measured

  struct RankSums {
    LatencySums sent, received;
  };
  std::vector<RankSums> ranks;
  std::vector<std::uint64_t> dropped;
  MessageTotals totals;
  std::uint64_t from_file = 0;  // messages that came matched
  double ratio_sum = 0;
  std::uint64_t timed = 0;
  std::int64_t newest_ns = 0;
  bool finished = false;

  bool regions_changed = false;     // by the window being closed
  std::size_t clustered_pairs = 0;  // what the current regions were made from
  std::uint64_t clustered_messages = 0, folded_messages = 0;
  Wall::time_point next_clustering{};
};

void Pipeline::State::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  if (!knows(rank) || events.empty()) return;
  newest_ns = std::max(newest_ns, scale.to_ns(events.back().end));
  while (!events.empty()) {
    const auto chunk = events.first(std::min(chunk_events, events.size()));
    activity.add(rank, thread, chunk);
    for (const record::Event& e : chunk) collectives.add(e);
    matcher.add(rank, thread, chunk);
    events = events.subspan(chunk.size());
  }
}

void Pipeline::State::name_sites() {
  if (options.name_sites) return options.name_sites(batch);
  for (Message& m : batch) m.send_site = m.recv_site = 0;
}

void Pipeline::State::measure() {
  for (Message& m : batch) {
    totals.bytes += m.bytes;
    const std::int32_t from = application.node_of_rank[m.source], to = application.node_of_rank[m.destination];
    if (from != to && from >= 0 && to >= 0) m.flags |= message_flag::inter_node;
    if (m.flags & message_flag::unseen_completion) continue;
    const std::int64_t time = m.time();
    if (time < 0) {
      m.flags |= message_flag::clock_violation;
      ++totals.clock_violations;
      continue;
    }
    criteria.add(m.flags & message_flag::inter_node, m.bytes, time);
    times.add(time);
  }
  windows.add(batch);
}

void Pipeline::State::close_windows(std::int64_t now_ns) {
  OpenWindows::Closed closed;
  while (windows.close(now_ns, closed)) close_window(closed);
}

void Pipeline::State::close_window(OpenWindows::Closed& closed) {
  criteria.refresh();
  const std::int64_t end_ns = closed.begin_ns + windows.length_ns();
  for (Message& m : closed.messages) {
    const double ratio = judge(m);
    if (ratio > 0) worst.add(m, ratio);
  }
  worst.close_window(end_ns);
  pairs.fold_window();
  fold_ranks();
  recluster(live_margin, false);
  Window window;
  window.begin_s = static_cast<double>(closed.begin_ns) * 1e-9;
  window.length_s = static_cast<double>(windows.length_ns()) * 1e-9;
  regions.close_window(pairs, regions_changed, closed.skipped, window);
  pairs.clear_window();
  if (options.on_messages && !closed.messages.empty()) options.on_messages(closed.messages);
  if (options.on_window) options.on_window(window);
  windows.recycle(std::move(closed.messages));
}

// Adds the message to its pair. Returns its ratio, 0 when it has no latency.
double Pipeline::State::judge(Message& m) {
  LatencySums& sums = pairs.window_sums(m.source, m.destination);
  ++sums.messages;
  sums.bytes += m.bytes;
  if (m.flags & (message_flag::unseen_completion | message_flag::clock_violation)) {
    sites.add(m, {}, 0);
    return 0;
  }
  const double ratio =
      static_cast<double>(m.time()) * criteria.inverse_ns(m.flags & message_flag::inter_node, m.bytes);
  if (from_file == 0 && ratio > 1) m.flags |= message_flag::delayed;
  const WaitSplit split = wait_split(m);
  sums.delayed += (m.flags & message_flag::delayed) != 0;
  ++sums.timed;
  sums.ratio += ratio;
  sums.late_sender_ns += split.late_sender;
  sums.late_receiver_ns += split.late_receiver;
  sums.transfer_ns += split.transfer;
  sites.add(m, split, ratio);
  return ratio;
}

void Pipeline::State::fold_ranks() {
  for (const std::uint32_t i : pairs.touched()) {
    const LatencySums& sums = pairs.window(i);
    ranks[pairs.pair(i).source].sent += sums;
    ranks[pairs.pair(i).destination].received += sums;
    totals.delayed += sums.delayed;
    ratio_sum += sums.ratio;
    timed += sums.timed;
    folded_messages += sums.messages;
  }
}

// When pairs turned up that the regions do not know, or counts have grown so much that their proportions may have
// changed; never for more than a small share of the time.
void Pipeline::State::recluster(double margin, bool whatever_it_costs) {
  regions_changed = false;
  if (pairs.size() == 0) return;
  const bool grown =
      static_cast<double>(folded_messages) >= growth_to_recluster * static_cast<double>(clustered_messages);
  if (!whatever_it_costs && pairs.size() == clustered_pairs && !grown) return;
  const Wall::time_point start = Wall::now();
  if (!whatever_it_costs && start < next_clustering) return;
  regions_changed = regions.recluster(application.ranks, pairs, {}, margin);
  clustered_pairs = pairs.size();
  clustered_messages = folded_messages;
  const Wall::time_point end = Wall::now();
  next_clustering = end + std::chrono::duration_cast<Wall::duration>((end - start) * (1 / clustering_share - 1));
}

void Pipeline::State::refresh_totals() {
  const MatchCounts counts = matcher.counts();
  totals.matched = counts.matched + from_file;
  totals.unmatched_sends = counts.unmatched_sends;
  totals.unmatched_receives = counts.unmatched_receives;
  totals.ambiguous = counts.ambiguous;
  totals.foreign = counts.foreign;
  totals.half_recorded = counts.half_recorded;
  totals.events = activity.events();
}

Pipeline::Pipeline(Application application, PipelineOptions options)
    : state_(std::make_unique<State>(std::move(application), std::move(options))) {}
Pipeline::~Pipeline() = default;

void Pipeline::set_tick_scale(TickScale scale) {
  state_->scale = scale;
  state_->matcher.set_tick_scale(scale);
}

void Pipeline::set_node(std::int32_t rank, const std::string& node) {
  if (!state_->knows(rank)) return;
  auto& nodes = state_->application.nodes;
  const auto it = std::find(nodes.begin(), nodes.end(), node);
  state_->application.node_of_rank[rank] = static_cast<std::int32_t>(it - nodes.begin());
  state_->matcher.set_node(rank, state_->application.node_of_rank[rank]);
  if (it == nodes.end()) nodes.push_back(node);
}

void Pipeline::set_mpi(const std::string& mpi) { state_->application.mpi = mpi; }

void Pipeline::add(std::int32_t rank, std::uint32_t thread, std::span<const record::Event> events) {
  state_->add(rank, thread, events);
}

void Pipeline::add_messages(std::span<const Message> messages) {
  State& s = *state_;
  while (!messages.empty()) {
    const auto chunk = messages.first(std::min(chunk_events, messages.size()));
    messages = messages.subspan(chunk.size());
    const bool in_range = std::all_of(chunk.begin(), chunk.end(),
                                      [&](const Message& m) { return s.knows(m.source) && s.knows(m.destination); });
    if (!in_range) continue;  // a file that contradicts itself
    s.from_file += chunk.size();
    s.batch.assign(chunk.begin(), chunk.end());
    s.measure();
    for (const Message& m : chunk) s.newest_ns = std::max(s.newest_ns, m.recv_end);
    // They were stored window by window: what lies before the newest one's window is complete.
    s.close_windows(s.windows.newest_begin_ns() + s.options.allowance_ns);
  }
  s.refresh_totals();
}

void Pipeline::set_dropped(std::int32_t rank, std::uint64_t dropped_total) {
  State& s = *state_;
  if (!s.knows(rank) || dropped_total <= s.dropped[rank]) return;
  s.totals.dropped_events += dropped_total - s.dropped[rank];
  s.dropped[rank] = dropped_total;
  s.matcher.note_drop(rank, dropped_total);
}

void Pipeline::set_threads(std::int32_t rank, bool several) { state_->matcher.set_threads(rank, several); }
void Pipeline::set_muted(std::int32_t rank, bool muted) { state_->matcher.note_muted(rank, muted); }

void Pipeline::end_round(std::int64_t now_ns, bool all_read) {
  if (state_->finished) return;
  state_->matcher.end_round(all_read);
  state_->close_windows(now_ns);
  state_->refresh_totals();
}

void Pipeline::finish() {
  State& s = *state_;
  if (s.finished) return;
  s.finished = true;
  s.matcher.finish();
  OpenWindows::Closed closed;
  while (s.windows.close_any(closed)) s.close_window(closed);
  s.recluster(final_margin, true);
  s.refresh_totals();
}

const MessageTotals& Pipeline::totals() const { return state_->totals; }
const Matcher& Pipeline::matcher() const { return state_->matcher; }

Snapshot Pipeline::snapshot() const {
  const State& s = *state_;
  Snapshot snapshot;
  snapshot.application = s.application;
  snapshot.duration_s = static_cast<double>(s.newest_ns) * 1e-9;
  snapshot.finished = s.finished;
  snapshot.finalized_ranks = s.activity.finalized_ranks();
  snapshot.messages = s.totals;
  snapshot.latency.mean_ratio = s.timed == 0 ? 0 : s.ratio_sum / static_cast<double>(s.timed);
  snapshot.latency.median_s = s.times.quantile(0.5) * 1e-9;
  snapshot.latency.p99_s = s.times.quantile(0.99) * 1e-9;
  snapshot.regions = s.regions.regions();
  snapshot.worst = s.finished ? s.worst.overall() : s.worst.recent();
  snapshot.criteria = s.criteria.list();
  snapshot.site_activity = s.sites.list(s.finished ? SiteSums::most_pairs : live_sites);
  for (std::int32_t rank = 0; rank < s.application.ranks; ++rank) {
    const LatencySums &sent = s.ranks[rank].sent, &received = s.ranks[rank].received;
    const Activity::Rank& activity = s.activity.rank(rank);
    RankSummary& summary = snapshot.ranks.emplace_back();
    summary.rank = rank;
    summary.node = s.application.node_of_rank[rank];
    summary.sends = sent.messages;
    summary.receives = received.messages;
    summary.bytes_sent = sent.bytes;
    summary.bytes_received = received.bytes;
    summary.collectives = activity.collectives;
    summary.dropped_events = s.dropped[rank];
    summary.mean_ratio = received.mean_ratio();
    summary.mpi_s = static_cast<double>(activity.mpi_ticks) * s.scale.ns_per_tick * 1e-9;
    summary.late_sender_s = static_cast<double>(received.late_sender_ns) * 1e-9;
    summary.late_receiver_s = static_cast<double>(received.late_receiver_ns) * 1e-9;
    summary.finished = activity.finalized;
  }
  return snapshot;
}

}  // namespace pclscope
