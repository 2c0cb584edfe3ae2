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

Json region_json(const Region& region) {
  return {{"id", region.id},
          {"ranks", region.ranks},
          {"messages", region.messages},
          {"bytes", region.bytes},
          {"delayed", region.delayed},
          {"mean_latency_ratio", finite(region.mean_latency_ratio)},
          {"delayed_share", finite(region.delayed_share)},
          {"late_sender_s", finite(region.late_sender_s)},
          {"late_receiver_s", finite(region.late_receiver_s)},
          {"transfer_s", finite(region.transfer_s)}};
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
          {"finished", rank.finished}};
}

Json criterion_json(const Criterion& criterion) {
  return {{"inter_node", criterion.inter_node},
          {"bytes_low", criterion.bytes_low},
          {"bytes_high", criterion.bytes_high},
          {"count", criterion.count},
          {"median_s", finite(criterion.median_s)}};
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
                      {"foreign", m.foreign},
                      {"half_recorded", m.half_recorded},
                      {"events", m.events}};
  json["latency"] = {{"mean_ratio", finite(snapshot.latency.mean_ratio)},
                     {"median_s", finite(snapshot.latency.median_s)},
                     {"p99_s", finite(snapshot.latency.p99_s)}};
  json["regions"] = Json::array();
  for (const Region& region : snapshot.regions) json["regions"].push_back(region_json(region));
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
