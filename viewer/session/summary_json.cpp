#include "viewer/session/summary_json.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/rows/summary_values.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/session/row_json.hpp"
#include "viewer/text/quantities.hpp"

namespace pclscope::session {

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::optional<double> age_s(const Snapshot& snapshot, std::int64_t now_realtime_ns) {
  if (snapshot.live.window_end_realtime_ns <= 0) return std::nullopt;
  // Nodes' clocks may differ a little; an age below zero helps nobody.
  return std::max(0.0, static_cast<double>(now_realtime_ns - snapshot.live.window_end_realtime_ns) * 1e-9);
}

const char* name_of(PeriodKind kind) {
  return kind == PeriodKind::growth ? "growth" : kind == PeriodKind::steady ? "steady" : "other";
}

const char* name_of(Keep keep) {
  return keep == Keep::all ? "all" : keep == Keep::interesting ? "interesting" : "summaries";
}

namespace {

Json node_name(const Application& application, std::int32_t node) {
  const bool known = node >= 0 && static_cast<std::size_t>(node) < application.nodes.size();
  return known ? Json(application.nodes[static_cast<std::size_t>(node)]) : Json(nullptr);
}

void add_network(const Snapshot& snapshot, Json& json) {
  const Network& network = snapshot.network;
  json["clocks_corrected"] = !network.corrections.empty();
  for (const char* list : {"dead_nodes", "links", "clocks"}) json[list] = Json::array();
  for (const std::int32_t node : network.dead_nodes)
    json["dead_nodes"].push_back(node_name(snapshot.application, node));
  for (const NodeLink& link : network.links) json["links"].push_back(node_link_json(link, snapshot.application));
  for (const ClockState& clock : network.clocks) {
    json["clocks"].push_back(row_json<ClockState>(clock));
    json["clocks"].back()["node"] = node_name(snapshot.application, clock.node);
  }
}

}  // namespace

Json node_link_json(const NodeLink& link, const Application& application) {
  Json json = row_json<NodeLink>(link);
  json["source"] = node_name(application, link.source);
  json["destination"] = node_name(application, link.destination);
  return json;
}

Json period_json(const Period& period) { return row_json<Period>(period); }

Json link_json(const RegionLink& link) { return row_json<RegionLink>(link); }

Json region_json(const Region& region) {
  Json json = {{"id", region.id}, {"ranks", region.ranks}};
  json.update(row_json<RegionRow>(region));
  json["periods"] = Json::array();
  for (const Period& period : region.periods) json["periods"].push_back(period_json(period));
  return json;
}

// What it is inside now is told elsewhere: `watch --json`, blocked[].
Json rank_json(const RankSummary& rank, const Application& application) {
  Json json = row_json<RankRow>(rank);
  json["node"] = node_name(application, rank.node);
  for (const char* now :
       {"call_function", "call_peer", "call_for_s", "call_site", "call_comm", "call_tag", "waits_for_any", "missing"})
    json.erase(now);
  if (!rank.missing) json["missing_from_s"] = nullptr;
  if (rank.begin_s < 0) json["begin_s"] = json["end_s"] = nullptr;
  return json;
}

Json criterion_json(const Criterion& criterion) {
  Json json = row_json<Criterion>(criterion);
  if (criterion.transfer_median_s <= 0) json["transfer_median_s"] = nullptr;
  return json;
}

double elapsed_s(const Snapshot& snapshot) {
  return snapshot.finished ? snapshot.duration_s : std::max(snapshot.duration_s, live_until_s(snapshot));
}

Json summary_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns) {
  const Application& app = snapshot.application;
  Json json;
  json["application"] = {{"command", app.command}, {"mpi", app.mpi}, {"nodes", app.nodes.size()}};
  json["time"] = {{"start", text::format_utc(snapshot.time_origin_realtime_ns)}};
  describe_values([&](const ValueInfo& info, const auto& value) { json[info.group][info.name] = cell(value); },
                  snapshot);
  json["time"]["elapsed_s"] = finite(elapsed_s(snapshot));
  for (const char* name : {"bites_since_s", "shed_from_s", "shed_to_s"})
    if (json["retention"][name] < 0.0) json["retention"][name] = nullptr;
  add_network(snapshot, json["network"]);
  for (const char* list : {"missing", "regions", "links", "ended_regions", "ended_links", "pattern_changes"})
    json[list] = Json::array();
  for (const RankSummary& rank : snapshot.ranks)
    if (rank.missing) json["missing"].push_back({{"rank", rank.rank}, {"from_s", finite(rank.missing_from_s)}});
  for (const Region& region : snapshot.regions) json["regions"].push_back(region_json(region));
  for (const RegionLink& link : snapshot.links) json["links"].push_back(link_json(link));
  for (const Region& region : snapshot.ended_regions) json["ended_regions"].push_back(region_json(region));
  for (const RegionLink& link : snapshot.ended_links) json["ended_links"].push_back(link_json(link));
  for (const PatternChange& change : pattern_changes(snapshot))
    json["pattern_changes"].push_back({{"at_s", change.at_s}, {"ended", change.ended}, {"began", change.began}});
  if (!now_realtime_ns) {
    json.erase("live");
  } else {
    const auto age = age_s(snapshot, *now_realtime_ns);
    json["live"]["age_s"] = age ? Json(*age) : Json(nullptr);
  }
  return json;
}

std::string to_text(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', true, Json::error_handler_t::replace);
}

}  // namespace pclscope::session
