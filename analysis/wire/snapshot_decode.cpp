#include <algorithm>
#include <string>
#include <vector>

#include "analysis/wire/attribution_frame.hpp"
#include "analysis/wire/snapshot_frame.hpp"

namespace pclscope::wire {
namespace {

// Absent tables decode to default values: an older sender of the same major version may not know them.
Application decode(const fb::Application& from, Budget& budget) {
  Application to;
  to.command = text(from.command(), budget);
  to.mpi = text(from.mpi(), budget);
  to.ranks = std::max(from.ranks(), 0);
  to.aggregators = std::max(from.aggregators(), 0);
  if (from.nodes()) {
    for (const flatbuffers::String* node : *from.nodes()) {
      if (budget.exceeded()) break;
      to.nodes.push_back(text(node, budget));
    }
  }
  to.node_of_rank = numbers(from.node_of_rank(), budget);
  for (std::int32_t& node : to.node_of_rank) {  // readers use it as an index
    if (node < -1 || node >= static_cast<std::int64_t>(to.nodes.size())) node = -1;
  }
  return to;
}

MessageTotals decode(const fb::MessageTotals& from, Budget&) {
  MessageTotals to;
  to.matched = from.matched();
  to.unmatched_sends = from.unmatched_sends();
  to.unmatched_receives = from.unmatched_receives();
  to.ambiguous = from.ambiguous();
  to.dropped_events = from.dropped_events();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.clock_violations = from.clock_violations();
  to.foreign = from.foreign();
  to.events = from.events();
  to.half_recorded = from.half_recorded();
  to.clock_unclear = from.clock_unclear();
  return to;
}

LatencySummary decode(const fb::LatencySummary& from, Budget&) {
  return {finite(from.mean_ratio()), finite(from.median_s()), finite(from.p99_s())};
}

template <class Value, class Table>
void decode_all(const flatbuffers::Vector<flatbuffers::Offset<Table>>* from, std::vector<Value>& to, Budget& budget);

Period decode(const fb::Period& from, Budget&) {
  Period to;
  if (from.kind() <= static_cast<std::uint8_t>(PeriodKind::steady)) to.kind = static_cast<PeriodKind>(from.kind());
  to.open = from.open();
  to.begin_s = finite(from.begin_s());
  to.end_s = finite(from.end_s());
  to.windows = from.windows();
  to.messages = from.messages();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.mean_ratio = finite(from.mean_ratio());
  to.begin_ratio = finite(from.begin_ratio());
  to.middle_ratio = finite(from.middle_ratio());
  to.end_ratio = finite(from.end_ratio());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  return to;
}

Region decode(const fb::Region& from, Budget& budget) {
  Region to;
  to.id = from.id();
  to.ranks = ranks(from.ranks(), budget);
  to.messages = from.messages();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.mean_latency_ratio = finite(from.mean_latency_ratio());
  to.delayed_share = finite(from.delayed_share());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  to.history_ratio = numbers(from.history_ratio(), budget);
  to.history_messages = numbers(from.history_messages(), budget);
  const std::size_t windows = std::min(to.history_ratio.size(), to.history_messages.size());
  to.history_ratio.resize(windows);  // readers walk both with one index
  to.history_messages.resize(windows);
  to.mean_transfer_ratio = finite(from.mean_transfer_ratio());
  to.collective_wait_s = finite(from.collective_wait_s());
  decode_all(from.periods(), to.periods, budget);
  return to;
}

RegionLink decode(const fb::RegionLink& from, Budget&) {
  RegionLink to;
  to.a = from.a();
  to.b = from.b();
  to.messages = from.messages();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.mean_latency_ratio = finite(from.mean_latency_ratio());
  to.mean_transfer_ratio = finite(from.mean_transfer_ratio());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  return to;
}

DelayOrigin decode(const fb::DelayOrigin& from, Budget& budget) {
  DelayOrigin to;
  to.rank = from.rank();
  to.site = from.site();
  to.after_site = from.after_site();
  to.waits = from.waits();
  to.cost_s = finite(from.cost_s());
  to.direct_s = finite(from.direct_s());
  to.collective_s = finite(from.collective_s());
  to.worst_s = finite(from.worst_s());
  to.first_s = finite(from.first_s());
  to.last_s = finite(from.last_s());
  to.victims = numbers(from.victims(), budget);
  to.victim_s = numbers(from.victim_s(), budget);
  const std::size_t victims = std::min(to.victims.size(), to.victim_s.size());
  to.victims.resize(victims);  // readers walk both with one index
  to.victim_s.resize(victims);
  return to;
}

DelayTotals decode(const fb::DelayTotals& from, Budget&) {
  return {from.waits(),
          finite(from.waited_s()),
          finite(from.attributed_s()),
          finite(from.inside_mpi_s()),
          finite(from.unknown_s()),
          from.messages_left_out()};
}

CollectiveTotals decode(const fb::CollectiveTotals& from, Budget&) {
  return {from.operations(), from.calls(), finite(from.wait_s())};
}

Retention decode(const fb::Retention& from, Budget&) {
  Retention to;
  if (from.keep() <= static_cast<std::uint8_t>(Keep::all)) to.keep = static_cast<Keep>(from.keep());
  to.budget_bytes = from.budget_bytes();
  to.file_bytes = from.file_bytes();
  to.memory_budget_bytes = from.memory_budget_bytes();
  to.memory_bytes = from.memory_bytes();
  to.messages_stored = from.messages_stored();
  to.messages_left_out = from.messages_left_out();
  to.bites_since_s = finite(from.bites_since_s());
  to.memory_from_s = finite(from.memory_from_s());
  return to;
}

WorstMessage decode(const fb::WorstMessage& from, Budget&) {
  WorstMessage to;
  to.source = from.source();
  to.destination = from.destination();
  to.tag = from.tag();
  to.comm = from.comm();
  to.bytes = from.bytes();
  to.start_s = finite(from.start_s());
  to.time_s = finite(from.time_s());
  to.ratio = finite(from.ratio());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.transfer_s = finite(from.transfer_s());
  return to;
}

RankSummary decode(const fb::RankSummary& from, Budget& budget) {
  RankSummary to;
  to.rank = from.rank();
  to.node = std::max(from.node(), -1);
  to.sends = from.sends();
  to.receives = from.receives();
  to.bytes_sent = from.bytes_sent();
  to.bytes_received = from.bytes_received();
  to.collectives = from.collectives();
  to.dropped_events = from.dropped_events();
  to.mean_ratio = finite(from.mean_ratio());
  to.mpi_s = finite(from.mpi_s());
  to.late_sender_s = finite(from.late_sender_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.call_function = from.call_function();
  to.call_peer = from.call_peer();
  to.call_for_s = finite(from.call_for_s());
  to.finished = from.finished();
  to.call_site = from.call_site();
  to.call_comm = from.call_comm();
  to.call_tag = from.call_tag();
  to.waits_for = ranks(from.waits_for(), budget);
  to.waits_for_any = from.waits_for_any();
  to.collective_wait_s = finite(from.collective_wait_s());
  to.delay_caused_s = finite(from.delay_caused_s());
  to.missing = from.missing();
  to.missing_from_s = finite(from.missing_from_s());
  return to;
}

Criterion decode(const fb::Criterion& from, Budget&) {
  return {from.inter_node(), from.bytes_low(),        from.bytes_high(),
          from.count(),      finite(from.median_s()), finite(from.transfer_median_s())};
}

Live decode(const fb::Live& from, Budget&) {
  return {finite(from.window_s()), from.window_end_realtime_ns(), from.sequence()};
}

FunctionActivity decode(const fb::FunctionActivity& from, Budget& budget) {
  return {from.function(), from.calls(), finite(from.inside_s()), from.ranks_inside(),
          numbers(from.history_share(), budget)};
}

DeadlockMember decode(const fb::DeadlockMember& from, Budget& budget) {
  DeadlockMember to;
  to.rank = from.rank();
  to.function = from.function();
  to.site = from.site();
  to.comm = from.comm();
  to.tag = from.tag();
  to.waits_for = ranks(from.waits_for(), budget);
  to.waits_for_any = from.waits_for_any();
  to.since_s = finite(from.since_s());
  return to;
}

CallSite decode(const fb::CallSite& from, Budget& budget) {
  CallSite to;
  to.id = from.id();
  to.module = text(from.module_(), budget);
  to.offset = from.offset();
  to.function = text(from.function(), budget);
  to.file = text(from.file(), budget);
  to.line = from.line();
  to.mpi_function = from.mpi_function();
  to.build_id = text(from.build_id(), budget);
  return to;
}

SiteActivity decode(const fb::SiteActivity& from, Budget&) {
  SiteActivity to;
  to.site = from.site();
  to.sends = from.sends();
  to.receives = from.receives();
  to.bytes = from.bytes();
  to.delayed = from.delayed();
  to.late_sender_s = finite(from.late_sender_s());
  to.waited_s = finite(from.waited_s());
  to.late_receiver_s = finite(from.late_receiver_s());
  to.excess_s = finite(from.excess_s());
  return to;
}

ClockState decode(const fb::ClockState& from, Budget&) {
  return {from.node(), finite(from.at_s()), finite(from.offset_s()), finite(from.drift()), finite(from.error_s())};
}

NodeLink decode(const fb::NodeLink& from, Budget&) {
  return {from.source(),
          from.destination(),
          from.messages(),
          from.bytes(),
          from.delayed(),
          finite(from.mean_latency_ratio()),
          finite(from.mean_transfer_ratio()),
          finite(from.mean_transfer_s()),
          from.newest_messages(),
          finite(from.newest_transfer_ratio()),
          finite(from.peak_transfer_ratio()),
          finite(from.peak_s())};
}

Deadlock decode(const fb::Deadlock& from, Budget& budget);

template <class Value, class Table>
void decode_all(const flatbuffers::Vector<flatbuffers::Offset<Table>>* from, std::vector<Value>& to, Budget& budget) {
  if (!from || !budget.take(from->size(), sizeof(Value))) return;
  to.reserve(from->size());
  for (const Table* table : *from) {
    if (budget.exceeded()) return;
    to.push_back(decode(*table, budget));
  }
}

Deadlock decode(const fb::Deadlock& from, Budget& budget) {
  Deadlock to;
  to.since_s = finite(from.since_s());
  to.found_s = finite(from.found_s());
  to.on_finished = from.on_finished();
  decode_all(from.members(), to.members, budget);
  return to;
}

Network decode(const fb::Network& from, Budget& budget) {
  Network to;
  to.traffic_bytes = from.traffic_bytes();
  to.messages_left_out = from.messages_left_out();
  to.collectives_left_out = from.collectives_left_out();
  to.dead_nodes = numbers(from.dead_nodes(), budget);
  decode_all(from.clocks(), to.clocks, budget);
  decode_all(from.links(), to.links, budget);
  return to;
}

}  // namespace

Snapshot decode(const fb::Snapshot& from, Budget& budget) {
  Snapshot to;
  to.job = text(from.job(), budget);
  if (from.application()) to.application = decode(*from.application(), budget);
  to.time_origin_realtime_ns = from.time_origin_realtime_ns();
  to.duration_s = finite(from.duration_s());
  to.finished = from.finished();
  to.finalized_ranks = from.finalized_ranks();
  if (from.messages()) to.messages = decode(*from.messages(), budget);
  if (from.latency()) to.latency = decode(*from.latency(), budget);
  decode_all(from.regions(), to.regions, budget);
  decode_all(from.worst(), to.worst, budget);
  decode_all(from.ranks(), to.ranks, budget);
  decode_all(from.criteria(), to.criteria, budget);
  if (from.live()) to.live = decode(*from.live(), budget);
  decode_all(from.functions(), to.functions, budget);
  decode_all(from.deadlocks(), to.deadlocks, budget);
  decode_all(from.sites(), to.sites, budget);
  decode_all(from.site_activity(), to.site_activity, budget);
  decode_all(from.links(), to.links, budget);
  if (from.collectives()) to.collectives = decode(*from.collectives(), budget);
  decode_all(from.delays(), to.delays, budget);
  if (from.retention()) to.retention = decode(*from.retention(), budget);
  if (from.delay_totals()) to.delay_totals = decode(*from.delay_totals(), budget);
  if (from.network()) to.network = decode(*from.network(), budget);
  const auto nodes = static_cast<std::int64_t>(to.application.nodes.size());
  if (from.attribution()) to.attribution = decode(*from.attribution(), nodes, budget);
  const auto nowhere = [nodes](std::int32_t node) { return node < 0 || node >= nodes; };
  std::erase_if(to.network.dead_nodes, nowhere);
  std::erase_if(to.network.clocks, [&](const ClockState& clock) { return nowhere(clock.node); });
  std::erase_if(to.network.links, [&](const NodeLink& l) { return nowhere(l.source) || nowhere(l.destination); });
  for (RankSummary& rank : to.ranks) {
    if (rank.node >= nodes) rank.node = -1;
  }
  return to;
}

}  // namespace pclscope::wire
