// The results so far, as plain values.
#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/order/clocks.hpp"
#include "analysis/order/dag_builder.hpp"
#include "analysis/pipeline/evaluation_state.hpp"

namespace pclscope {

namespace {

constexpr std::size_t live_links = 200;
constexpr std::size_t most_node_links = 1000;
constexpr std::size_t live_delays = 20;
constexpr std::size_t stored_delays = 1000;
constexpr std::size_t live_periods = 32;
constexpr std::size_t live_ended = 64;
constexpr std::size_t clocks_part = 8;           // of the memory for messages, while vector clocks are asked for
constexpr std::size_t clocks_at_once = 1 << 14;  // messages

void fill_in(RankSummary& summary, const nodes::RankStatus& status) {
  summary.collectives = status.collectives;
  summary.dropped_events = status.dropped_events;
  summary.buffer_events = status.buffer.events;
  summary.held_up_s = static_cast<double>(status.buffer.held_up_ns) * 1e-9;
  summary.threads = status.threads;
  summary.mpi_s = static_cast<double>(status.mpi_ns) * 1e-9;
  summary.init_s = static_cast<double>(status.init_ns) * 1e-9;
  summary.one_sided_s = static_cast<double>(status.one_sided_ns) * 1e-9;
  summary.file_s = static_cast<double>(status.file_ns) * 1e-9;
  summary.finished = status.finalized;
  if (status.begin_ns >= 0) {
    summary.begin_s = static_cast<double>(status.begin_ns) * 1e-9;
    summary.end_s = static_cast<double>(std::max(status.end_ns, status.begin_ns)) * 1e-9;
  }
  if (status.cores_until_ns != 0) summary.set_cores(status.cores);
  summary.call_function = status.function;
  summary.call_peer = status.peer;
  summary.call_tag = status.tag;
  summary.call_comm = status.comm;
  summary.call_site = status.site;
  summary.call_for_s = static_cast<double>(status.inside_ns) * 1e-9;
  summary.waits_for = status.waits_for;
  summary.waits_for_any = status.waits_for_any;
}

}  // namespace

Snapshot Evaluation::snapshot() const {
  const State& s = *state_;
  const Measured& m = s.measured;
  Snapshot snapshot;
  snapshot.application = s.application;
  snapshot.duration_s = static_cast<double>(m.newest_ns) * 1e-9;
  snapshot.finished = s.finished;
  snapshot.messages = m.totals;
  snapshot.messages.delayed = m.criteria.above();
  RunRatios& ratios = state_->ratios;
  ratios.refresh(m, s.finished);
  snapshot.latency.mean_ratio = ratios.all.mean_time();
  snapshot.latency.typical_ratio = ratios.all.typical_time();
  snapshot.latency.median_s = m.times.quantile(0.5) * 1e-9;
  snapshot.latency.p99_s = m.times.quantile(0.99) * 1e-9;
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  const RegionSeries::Most most = s.finished ? RegionSeries::Most{Evolution::default_periods, all, all, all}
                                             : RegionSeries::Most{live_periods, live_links, live_ended, 0};
  s.regions.fill(snapshot, most,
                 [inverse = m.inverse()](bool inter_node, std::uint32_t bin, const PairTable::TimeSums& times) {
                   return PairTable::judge(inter_node, bin, times, inverse);
                 });
  snapshot.network.links = s.node_links.list(most_node_links, ratios.of_nodes);
  snapshot.delays = s.delays.list(s.finished ? stored_delays : live_delays);
  snapshot.delay_totals = s.delays.totals();
  snapshot.attribution = s.attributor.result();
  for (Finding& finding : snapshot.attribution.findings) finding.region = s.regions.present_id(finding.region);
  if (s.finished) snapshot.dendrogram = s.regions.tracker().dendrogram();
  snapshot.collectives.operations = s.collectives_completed;
  snapshot.retention.memory_budget_bytes = s.options.memory_bytes;
  snapshot.retention.memory_bytes = s.recent.bytes();
  s.retention.report(snapshot.retention);
  if (s.recent.complete_from_ns() != std::numeric_limits<std::int64_t>::min())
    snapshot.retention.memory_from_s = static_cast<double>(s.recent.complete_from_ns()) * 1e-9;
  snapshot.worst = s.finished ? m.worst.overall() : m.worst.recent();
  snapshot.criteria = m.criteria.list();
  snapshot.markers = m.activity.markers(m.scale);
  snapshot.site_activity = m.sites.list(s.finished ? SiteSums::most_pairs : live_sites);
  for (std::int32_t rank = 0; rank < s.application.ranks; ++rank) {
    const LatencySums &sent = s.ranks[rank].sent, &received = s.ranks[rank].received;
    RankSummary& summary = snapshot.ranks.emplace_back();
    summary.rank = rank;
    summary.node = s.application.node_of_rank[rank];
    summary.sends = sent.messages;
    summary.receives = received.messages;
    summary.bytes_sent = sent.bytes;
    summary.bytes_received = received.bytes;
    summary.mean_latency_ratio = ratios.of_receiver[static_cast<std::size_t>(rank)].mean_time();
    summary.typical_ratio = ratios.of_receiver[static_cast<std::size_t>(rank)].typical_time();
    summary.late_sender_s = static_cast<double>(received.blocked.late_sender) * 1e-9;
    summary.late_receiver_s = static_cast<double>(sent.blocked.late_receiver) * 1e-9;
    summary.transfer_s = static_cast<double>(received.blocked.transfer_receiver + sent.blocked.transfer_sender) * 1e-9;
    summary.delay_caused_s = s.delays.caused_s(rank);
    fill_in(summary, m.status_of(rank));
    if (summary.finished && summary.end_s >= 0) summary.finalize_s = std::max(snapshot.duration_s - summary.end_s, 0.0);
    snapshot.finalized_ranks += summary.finished;
  }
  for (const auto& stage : s.stages) stage->fill(snapshot);
  for (RankSummary& rank : snapshot.ranks) rank.set_other();
  return snapshot;
}

Result<Dag> Evaluation::dag(const DagQuestion& asked) const {
  const State& s = *state_;
  DagQuestion question = asked;
  if (question.region >= 0) {
    const std::vector<std::int32_t>* ranks = s.regions.ranks_of(question.region);
    if (ranks == nullptr)
      return Error{ErrorCode::not_found,
                   "no region " + std::to_string(question.region) + " now: watch shows which there are"};
    question.ranks = *ranks;
  }
  std::vector<Message> messages;
  s.recent.between(question.from_ns, question.to_ns, [&](const Message& m) {
    if (question.ranks.empty() || (std::binary_search(question.ranks.begin(), question.ranks.end(), m.source) &&
                                   std::binary_search(question.ranks.begin(), question.ranks.end(), m.destination)))
      messages.push_back(m);
  });
  DagSource source;
  source.messages = messages;
  source.node_of_rank = s.application.node_of_rank;
  source.ratio = [&](const Message& m) { return s.measured.ratio_of(m); };
  Dag dag = build_dag(question, source);
  if (question.from_ns < s.recent.complete_from_ns()) {
    dag.partial = true;
    if (dag.why_partial.empty())
      dag.why_partial = "memory reaches back to " +
                        std::to_string(static_cast<double>(s.recent.complete_from_ns()) * 1e-9) + " s only";
  }
  return dag;
}

std::unique_ptr<const RegionClocks> Evaluation::clocks(std::int32_t region) const {
  const State& s = *state_;
  const std::vector<std::int32_t>* ranks = s.regions.ranks_of(region);
  if (ranks == nullptr) return nullptr;
  auto clocks = std::make_unique<RegionClocks>(*ranks, RegionClocksOptions{s.options.memory_bytes / clocks_part});
  if (!clocks->enabled()) return nullptr;
  constexpr std::int64_t ever = std::numeric_limits<std::int64_t>::min();
  if (s.recent.complete_from_ns() != ever) clocks->forget_before(s.recent.complete_from_ns());
  std::size_t put = 0;
  s.recent.between(ever, std::numeric_limits<std::int64_t>::max(), [&](const Message& m) {
    clocks->put(m);
    if (++put % clocks_at_once == 0) clocks->add_put();
  });
  clocks->add_put();
  return clocks;
}

std::size_t Evaluation::pairs() const { return state_->measured.pairs.size(); }

std::vector<PairTraffic> Evaluation::traffic() const {
  const PairTable& pairs = state_->measured.pairs;
  std::vector<PairTraffic> list;
  list.reserve(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const LatencySums& sums = pairs.total(i);
    if (sums.messages == 0) continue;
    PairTable::TimeSums times;
    pairs.total_times(i, [&](bool, std::uint32_t, const PairTable::TimeSums& some) { times += some; });
    list.push_back({pairs.pair(i).source, pairs.pair(i).destination, sums.messages, sums.bytes, times.timed,
                    static_cast<double>(times.time) * 1e-9, static_cast<double>(times.transfer) * 1e-9});
  }
  std::sort(list.begin(), list.end(), [](const PairTraffic& a, const PairTraffic& b) {
    return std::tie(a.source, a.destination) < std::tie(b.source, b.destination);
  });
  return list;
}

}  // namespace pclscope
