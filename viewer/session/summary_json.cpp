#include "viewer/session/summary_json.hpp"

#include <algorithm>
#include <cmath>

#include "viewer/text/quantities.hpp"

namespace pclscope::session {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::optional<double> age_s(const Snapshot& snapshot, std::int64_t now_realtime_ns) {
  if (snapshot.live.window_end_realtime_ns <= 0) return std::nullopt;
  // Nodes' clocks may differ a little; an age below zero helps nobody.
  return std::max(0.0, static_cast<double>(now_realtime_ns - snapshot.live.window_end_realtime_ns) * 1e-9);
}

namespace {

const char* name_of(PeriodKind kind) {
  return kind == PeriodKind::growth ? "growth" : kind == PeriodKind::steady ? "steady" : "other";
}

const char* name_of(Keep keep) {
  return keep == Keep::all ? "all" : keep == Keep::interesting ? "interesting" : "summaries";
}

Json retention_json(const Retention& r) {
  return {{"keep", name_of(r.keep)},
          {"budget_bytes", r.budget_bytes},
          {"file_bytes", r.file_bytes},
          {"memory_budget_bytes", r.memory_budget_bytes},
          {"memory_bytes", r.memory_bytes},
          {"messages_stored", r.messages_stored},
          {"messages_left_out", r.messages_left_out},
          {"bites_since_s", r.bites_since_s >= 0 ? finite(r.bites_since_s) : Json(nullptr)},
          {"memory_from_s", finite(r.memory_from_s)}};
}

Json node_name(const Application& application, std::int32_t node) {
  const bool known = node >= 0 && static_cast<std::size_t>(node) < application.nodes.size();
  return known ? Json(application.nodes[static_cast<std::size_t>(node)]) : Json(nullptr);
}

Json network_json(const Snapshot& snapshot) {
  const Network& network = snapshot.network;
  const auto name = [&](std::int32_t node) { return node_name(snapshot.application, node); };
  Json json = {{"traffic_bytes", network.traffic_bytes},
               {"messages_left_out", network.messages_left_out},
               {"collectives_left_out", network.collectives_left_out},
               {"clocks_corrected", !network.corrections.empty()},
               {"dead_nodes", Json::array()},
               {"clocks", Json::array()},
               {"links", Json::array()}};
  for (const NodeLink& link : network.links) json["links"].push_back(node_link_json(link, snapshot.application));
  for (const std::int32_t node : network.dead_nodes) json["dead_nodes"].push_back(name(node));
  for (const ClockState& clock : network.clocks) {
    json["clocks"].push_back({{"node", name(clock.node)},
                              {"at_s", finite(clock.at_s)},
                              {"offset_s", finite(clock.offset_s)},
                              {"drift", finite(clock.drift)},
                              {"error_s", finite(clock.error_s)}});
  }
  return json;
}

}  // namespace

Json node_link_json(const NodeLink& l, const Application& application) {
  return {{"from", node_name(application, l.source)},
          {"to", node_name(application, l.destination)},
          {"messages", l.messages},
          {"bytes", l.bytes},
          {"delayed", l.delayed},
          {"mean_latency_ratio", finite(l.mean_latency_ratio)},
          {"mean_transfer_ratio", finite(l.mean_transfer_ratio)},
          {"mean_transfer_s", finite(l.mean_transfer_s)},
          {"newest_messages", l.newest_messages},
          {"newest_transfer_ratio", finite(l.newest_transfer_ratio)},
          {"peak_transfer_ratio", finite(l.peak_transfer_ratio)},
          {"peak_s", finite(l.peak_s)}};
}

Json period_json(const Period& p) {
  return {{"kind", name_of(p.kind)},
          {"open", p.open},
          {"begin_s", finite(p.begin_s)},
          {"end_s", finite(p.end_s)},
          {"windows", p.windows},
          {"messages", p.messages},
          {"bytes", p.bytes},
          {"delayed", p.delayed},
          {"mean_ratio", finite(p.mean_ratio)},
          {"begin_ratio", finite(p.begin_ratio)},
          {"middle_ratio", finite(p.middle_ratio)},
          {"end_ratio", finite(p.end_ratio)},
          {"late_sender_s", finite(p.late_sender_s)},
          {"late_receiver_s", finite(p.late_receiver_s)},
          {"transfer_s", finite(p.transfer_s)}};
}

Json link_json(const RegionLink& link) {
  return {{"a", link.a},
          {"b", link.b},
          {"messages", link.messages},
          {"bytes", link.bytes},
          {"delayed", link.delayed},
          {"mean_latency_ratio", finite(link.mean_latency_ratio)},
          {"mean_transfer_ratio", finite(link.mean_transfer_ratio)},
          {"late_sender_s", finite(link.late_sender_s)},
          {"late_receiver_s", finite(link.late_receiver_s)},
          {"transfer_s", finite(link.transfer_s)}};
}

Json region_json(const Region& region) {
  Json periods = Json::array();
  for (const Period& period : region.periods) periods.push_back(period_json(period));
  return {{"id", region.id},
          {"ranks", region.ranks},
          {"messages", region.messages},
          {"bytes", region.bytes},
          {"delayed", region.delayed},
          {"mean_latency_ratio", finite(region.mean_latency_ratio)},
          {"delayed_share", finite(region.delayed_share)},
          {"late_sender_s", finite(region.late_sender_s)},
          {"late_receiver_s", finite(region.late_receiver_s)},
          {"transfer_s", finite(region.transfer_s)},
          {"mean_transfer_ratio", finite(region.mean_transfer_ratio)},
          {"collective_wait_s", finite(region.collective_wait_s)},
          {"periods", periods}};
}

Json rank_json(const RankSummary& rank, const Application& application) {
  const auto node = static_cast<std::size_t>(rank.node);
  const bool known = rank.node >= 0 && node < application.nodes.size();
  return {{"rank", rank.rank},
          {"node", known ? Json(application.nodes[node]) : Json(nullptr)},
          {"sends", rank.sends},
          {"receives", rank.receives},
          {"bytes_sent", rank.bytes_sent},
          {"bytes_received", rank.bytes_received},
          {"collectives", rank.collectives},
          {"dropped_events", rank.dropped_events},
          {"mean_latency_ratio", finite(rank.mean_ratio)},
          {"mpi_s", finite(rank.mpi_s)},
          {"late_sender_s", finite(rank.late_sender_s)},
          {"late_receiver_s", finite(rank.late_receiver_s)},
          {"finished", rank.finished},
          {"missing_from_s", rank.missing ? finite(rank.missing_from_s) : Json(nullptr)},
          {"collective_wait_s", finite(rank.collective_wait_s)},
          {"delay_caused_s", finite(rank.delay_caused_s)}};
}

Json criterion_json(const Criterion& criterion) {
  return {{"inter_node", criterion.inter_node},
          {"bytes_low", criterion.bytes_low},
          {"bytes_high", criterion.bytes_high},
          {"count", criterion.count},
          {"median_s", finite(criterion.median_s)},
          {"transfer_median_s", criterion.transfer_median_s > 0 ? finite(criterion.transfer_median_s) : Json(nullptr)}};
}

Json summary_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns) {
  const Application& app = snapshot.application;
  const MessageTotals& m = snapshot.messages;
  Json json;
  json["application"] = {{"command", app.command},
                         {"mpi", app.mpi},
                         {"ranks", app.ranks},
                         {"nodes", app.nodes.size()},
                         {"aggregators", app.aggregators}};
  json["time"] = {{"start", text::format_utc(snapshot.time_origin_realtime_ns)},
                  {"duration_s", finite(snapshot.duration_s)},
                  {"finished", snapshot.finished}};
  json["messages"] = {{"matched", m.matched},
                      {"unmatched_sends", m.unmatched_sends},
                      {"unmatched_receives", m.unmatched_receives},
                      {"ambiguous", m.ambiguous},
                      {"dropped_events", m.dropped_events},
                      {"bytes", m.bytes},
                      {"delayed", m.delayed},
                      {"clock_violations", m.clock_violations},
                      {"clock_unclear", m.clock_unclear},
                      {"foreign", m.foreign},
                      {"half_recorded", m.half_recorded},
                      {"events", m.events}};
  json["latency"] = {{"mean_ratio", finite(snapshot.latency.mean_ratio)},
                     {"median_s", finite(snapshot.latency.median_s)},
                     {"p99_s", finite(snapshot.latency.p99_s)}};
  json["collectives"] = {{"operations", snapshot.collectives.operations},
                         {"calls", snapshot.collectives.calls},
                         {"wait_s", finite(snapshot.collectives.wait_s)}};
  json["retention"] = retention_json(snapshot.retention);
  json["network"] = network_json(snapshot);
  for (const char* list : {"missing", "regions", "links"}) json[list] = Json::array();
  for (const RankSummary& rank : snapshot.ranks)
    if (rank.missing) json["missing"].push_back({{"rank", rank.rank}, {"from_s", finite(rank.missing_from_s)}});
  for (const Region& region : snapshot.regions) json["regions"].push_back(region_json(region));
  for (const RegionLink& link : snapshot.links) json["links"].push_back(link_json(link));
  if (now_realtime_ns) {
    const auto age = age_s(snapshot, *now_realtime_ns);
    json["live"] = {{"window_s", finite(snapshot.live.window_s)},
                    {"age_s", age ? Json(*age) : Json(nullptr)},
                    {"sequence", snapshot.live.sequence}};
  }
  return json;
}

std::string to_text(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace pclscope::session
