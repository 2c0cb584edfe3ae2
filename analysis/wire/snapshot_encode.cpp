#include <vector>

#include "analysis/wire/attribution_frame.hpp"
#include "analysis/wire/snapshot_frame.hpp"

namespace pclscope::wire {
namespace {

Offset<fb::Application> encode(Builder& to, const Application& value) {
  const auto command = to.CreateString(value.command);
  const auto mpi = to.CreateString(value.mpi);
  const auto nodes = to.CreateVectorOfStrings(value.nodes);
  const auto node_of_rank = to.CreateVector(value.node_of_rank);
  fb::ApplicationBuilder table(to);
  table.add_command(command);
  table.add_mpi(mpi);
  table.add_ranks(value.ranks);
  table.add_aggregators(value.aggregators);
  table.add_nodes(nodes);
  table.add_node_of_rank(node_of_rank);
  return table.Finish();
}

Offset<fb::MessageTotals> encode(Builder& to, const MessageTotals& value) {
  fb::MessageTotalsBuilder table(to);
  table.add_matched(value.matched);
  table.add_unmatched_sends(value.unmatched_sends);
  table.add_unmatched_receives(value.unmatched_receives);
  table.add_ambiguous(value.ambiguous);
  table.add_dropped_events(value.dropped_events);
  table.add_bytes(value.bytes);
  table.add_delayed(value.delayed);
  table.add_clock_violations(value.clock_violations);
  table.add_foreign(value.foreign);
  table.add_events(value.events);
  table.add_half_recorded(value.half_recorded);
  table.add_clock_unclear(value.clock_unclear);
  return table.Finish();
}

Offset<fb::LatencySummary> encode(Builder& to, const LatencySummary& value) {
  return fb::CreateLatencySummary(to, value.mean_ratio, value.median_s, value.p99_s);
}

Offset<fb::NodeLink> encode(Builder& to, const NodeLink& value) {
  return fb::CreateNodeLink(to, value.source, value.destination, value.messages, value.bytes, value.delayed,
                            value.mean_latency_ratio, value.mean_transfer_ratio, value.mean_transfer_s,
                            value.newest_messages, value.newest_transfer_ratio, value.peak_transfer_ratio,
                            value.peak_s);
}

template <class Table, class Value>
Offset<flatbuffers::Vector<Offset<Table>>> encode_all(Builder& to, const std::vector<Value>& values);

Offset<fb::Period> encode(Builder& to, const Period& value) {
  fb::PeriodBuilder table(to);
  table.add_kind(static_cast<std::uint8_t>(value.kind));
  table.add_open(value.open);
  table.add_begin_s(value.begin_s);
  table.add_end_s(value.end_s);
  table.add_windows(value.windows);
  table.add_messages(value.messages);
  table.add_bytes(value.bytes);
  table.add_delayed(value.delayed);
  table.add_mean_ratio(value.mean_ratio);
  table.add_begin_ratio(value.begin_ratio);
  table.add_middle_ratio(value.middle_ratio);
  table.add_end_ratio(value.end_ratio);
  table.add_late_sender_s(value.late_sender_s);
  table.add_late_receiver_s(value.late_receiver_s);
  table.add_transfer_s(value.transfer_s);
  return table.Finish();
}

Offset<fb::Region> encode(Builder& to, const Region& value) {
  const auto ranks = to.CreateVectorOfStructs(as_ranges(value.ranks));
  const auto ratios = to.CreateVector(value.history_ratio);
  const auto counts = to.CreateVector(value.history_messages);
  const auto periods = encode_all<fb::Period>(to, value.periods);
  fb::RegionBuilder table(to);
  table.add_id(value.id);
  table.add_ranks(ranks);
  table.add_messages(value.messages);
  table.add_bytes(value.bytes);
  table.add_delayed(value.delayed);
  table.add_mean_latency_ratio(value.mean_latency_ratio);
  table.add_delayed_share(value.delayed_share);
  table.add_late_sender_s(value.late_sender_s);
  table.add_late_receiver_s(value.late_receiver_s);
  table.add_transfer_s(value.transfer_s);
  table.add_history_ratio(ratios);
  table.add_history_messages(counts);
  table.add_mean_transfer_ratio(value.mean_transfer_ratio);
  table.add_collective_wait_s(value.collective_wait_s);
  table.add_periods(periods);
  return table.Finish();
}

Offset<fb::RegionLink> encode(Builder& to, const RegionLink& value) {
  return fb::CreateRegionLink(to, value.a, value.b, value.messages, value.bytes, value.delayed,
                              value.mean_latency_ratio, value.mean_transfer_ratio, value.late_sender_s,
                              value.late_receiver_s, value.transfer_s);
}

Offset<fb::DelayOrigin> encode(Builder& to, const DelayOrigin& value) {
  const auto victims = to.CreateVector(value.victims);
  const auto victim_s = to.CreateVector(value.victim_s);
  return fb::CreateDelayOrigin(to, value.rank, value.site, value.after_site, value.waits, value.cost_s, value.direct_s,
                               value.collective_s, value.worst_s, value.first_s, value.last_s, victims, victim_s);
}

Offset<fb::DelayTotals> encode(Builder& to, const DelayTotals& value) {
  return fb::CreateDelayTotals(to, value.waits, value.waited_s, value.attributed_s, value.inside_mpi_s, value.unknown_s,
                               value.messages_left_out);
}

Offset<fb::CollectiveTotals> encode(Builder& to, const CollectiveTotals& value) {
  return fb::CreateCollectiveTotals(to, value.operations, value.calls, value.wait_s);
}

Offset<fb::Retention> encode(Builder& to, const Retention& value) {
  return fb::CreateRetention(to, static_cast<std::uint8_t>(value.keep), value.budget_bytes, value.file_bytes,
                             value.memory_budget_bytes, value.memory_bytes, value.messages_stored,
                             value.messages_left_out, value.bites_since_s, value.memory_from_s);
}

Offset<fb::WorstMessage> encode(Builder& to, const WorstMessage& value) {
  fb::WorstMessageBuilder table(to);
  table.add_source(value.source);
  table.add_destination(value.destination);
  table.add_tag(value.tag);
  table.add_comm(value.comm);
  table.add_bytes(value.bytes);
  table.add_start_s(value.start_s);
  table.add_time_s(value.time_s);
  table.add_ratio(value.ratio);
  table.add_late_sender_s(value.late_sender_s);
  table.add_late_receiver_s(value.late_receiver_s);
  table.add_transfer_s(value.transfer_s);
  return table.Finish();
}

Offset<fb::RankSummary> encode(Builder& to, const RankSummary& value) {
  const auto waits_for = to.CreateVectorOfStructs(as_ranges(value.waits_for));
  fb::RankSummaryBuilder table(to);
  table.add_rank(value.rank);
  table.add_node(value.node);
  table.add_sends(value.sends);
  table.add_receives(value.receives);
  table.add_bytes_sent(value.bytes_sent);
  table.add_bytes_received(value.bytes_received);
  table.add_collectives(value.collectives);
  table.add_dropped_events(value.dropped_events);
  table.add_mean_ratio(value.mean_ratio);
  table.add_mpi_s(value.mpi_s);
  table.add_late_sender_s(value.late_sender_s);
  table.add_late_receiver_s(value.late_receiver_s);
  table.add_call_function(value.call_function);
  table.add_call_peer(value.call_peer);
  table.add_call_for_s(value.call_for_s);
  table.add_finished(value.finished);
  table.add_call_site(value.call_site);
  table.add_call_comm(value.call_comm);
  table.add_call_tag(value.call_tag);
  table.add_waits_for(waits_for);
  table.add_waits_for_any(value.waits_for_any);
  table.add_collective_wait_s(value.collective_wait_s);
  table.add_delay_caused_s(value.delay_caused_s);
  table.add_missing(value.missing);
  table.add_missing_from_s(value.missing_from_s);
  return table.Finish();
}

Offset<fb::Criterion> encode(Builder& to, const Criterion& value) {
  return fb::CreateCriterion(to, value.inter_node, value.bytes_low, value.bytes_high, value.count, value.median_s,
                             value.transfer_median_s);
}

Offset<fb::Live> encode(Builder& to, const Live& value) {
  return fb::CreateLive(to, value.window_s, value.window_end_realtime_ns, value.sequence);
}

Offset<fb::FunctionActivity> encode(Builder& to, const FunctionActivity& value) {
  const auto history = to.CreateVector(value.history_share);
  return fb::CreateFunctionActivity(to, value.function, value.calls, value.inside_s, value.ranks_inside, history);
}

Offset<fb::DeadlockMember> encode(Builder& to, const DeadlockMember& value) {
  const auto waits_for = to.CreateVectorOfStructs(as_ranges(value.waits_for));
  return fb::CreateDeadlockMember(to, value.rank, value.function, value.site, value.comm, value.tag, waits_for,
                                  value.waits_for_any, value.since_s);
}

Offset<fb::CallSite> encode(Builder& to, const CallSite& value) {
  const auto module = to.CreateString(value.module);
  const auto function = to.CreateString(value.function);
  const auto file = to.CreateString(value.file);
  const auto build_id = to.CreateString(value.build_id);
  return fb::CreateCallSite(to, value.id, module, value.offset, function, file, value.line, value.mpi_function,
                            build_id);
}

Offset<fb::SiteActivity> encode(Builder& to, const SiteActivity& value) {
  return fb::CreateSiteActivity(to, value.site, value.sends, value.receives, value.bytes, value.delayed,
                                value.late_sender_s, value.waited_s, value.late_receiver_s, value.excess_s);
}

Offset<fb::Deadlock> encode(Builder& to, const Deadlock& value);

Offset<fb::ClockState> encode(Builder& to, const ClockState& value) {
  return fb::CreateClockState(to, value.node, value.at_s, value.offset_s, value.drift, value.error_s);
}

template <class Table, class Value>
Offset<flatbuffers::Vector<Offset<Table>>> encode_all(Builder& to, const std::vector<Value>& values) {
  return encode_each<Table>(to, values, [](Builder& into, const Value& value) { return encode(into, value); });
}

Offset<fb::Deadlock> encode(Builder& to, const Deadlock& value) {
  const auto members = encode_all<fb::DeadlockMember>(to, value.members);
  return fb::CreateDeadlock(to, value.since_s, value.found_s, value.on_finished, members);
}

Offset<fb::Network> encode(Builder& to, const Network& value) {
  const auto dead_nodes = to.CreateVector(value.dead_nodes);
  const auto clocks = encode_all<fb::ClockState>(to, value.clocks);
  const auto links = encode_all<fb::NodeLink>(to, value.links);
  return fb::CreateNetwork(to, value.traffic_bytes, value.messages_left_out, value.collectives_left_out, dead_nodes,
                           clocks, links);
}

}  // namespace

Offset<fb::Snapshot> encode(Builder& to, const Snapshot& value) {
  const auto job = to.CreateString(value.job);
  const auto application = encode(to, value.application);
  const auto messages = encode(to, value.messages);
  const auto latency = encode(to, value.latency);
  const auto regions = encode_all<fb::Region>(to, value.regions);
  const auto worst = encode_all<fb::WorstMessage>(to, value.worst);
  const auto ranks = encode_all<fb::RankSummary>(to, value.ranks);
  const auto criteria = encode_all<fb::Criterion>(to, value.criteria);
  const auto functions = encode_all<fb::FunctionActivity>(to, value.functions);
  const auto deadlocks = encode_all<fb::Deadlock>(to, value.deadlocks);
  const auto sites = encode_all<fb::CallSite>(to, value.sites);
  const auto site_activity = encode_all<fb::SiteActivity>(to, value.site_activity);
  const auto links = encode_all<fb::RegionLink>(to, value.links);
  const auto collectives = encode(to, value.collectives);
  const auto delays = encode_all<fb::DelayOrigin>(to, value.delays);
  const auto retention = encode(to, value.retention);
  const auto delay_totals = encode(to, value.delay_totals);
  const auto network = encode(to, value.network);
  const auto attribution = encode(to, value.attribution);
  const auto live = encode(to, value.live);
  fb::SnapshotBuilder table(to);
  table.add_job(job);
  table.add_application(application);
  table.add_time_origin_realtime_ns(value.time_origin_realtime_ns);
  table.add_duration_s(value.duration_s);
  table.add_finished(value.finished);
  table.add_finalized_ranks(value.finalized_ranks);
  table.add_messages(messages);
  table.add_latency(latency);
  table.add_regions(regions);
  table.add_worst(worst);
  table.add_ranks(ranks);
  table.add_criteria(criteria);
  table.add_live(live);
  table.add_functions(functions);
  table.add_deadlocks(deadlocks);
  table.add_sites(sites);
  table.add_site_activity(site_activity);
  table.add_links(links);
  table.add_collectives(collectives);
  table.add_delays(delays);
  table.add_retention(retention);
  table.add_delay_totals(delay_totals);
  table.add_network(network);
  table.add_attribution(attribution);
  return table.Finish();
}

}  // namespace pclscope::wire
