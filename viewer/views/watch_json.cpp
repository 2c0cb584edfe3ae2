#include "viewer/views/watch_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/inside_rows.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {
namespace {
constexpr std::size_t history_windows = 60;  // one object per line is meant to be read by programs as it comes
constexpr std::size_t most_blocked = 100;

// The newest windows, oldest first.
void add_history(session::Json& json, const Region& region) {
  session::Json ratios = session::Json::array(), messages = session::Json::array();
  const std::size_t count = std::min(region.history_ratio.size(), region.history_messages.size());
  for (std::size_t i = count - std::min(count, history_windows); i < count; ++i) {
    ratios.push_back(session::finite(region.history_ratio[i]));
    messages.push_back(region.history_messages[i]);
  }
  json["history_ratio"] = ratios;
  json["history_messages"] = messages;
}
}  // namespace

session::Json watch_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns) {
  session::Json json = session::summary_json(snapshot, now_realtime_ns);
  const Sites sites(snapshot.sites);
  for (std::size_t i = 0; i < snapshot.regions.size(); ++i) add_history(json["regions"][i], snapshot.regions[i]);
  json["findings"] = findings_json(snapshot, sites)["findings"];
  json["conditions"] = conditions_json(snapshot);
  json["conditions_first"] = conditions_first(snapshot);
  json["sentences"] = sentences(snapshot, sites);
  json["efficiency"] = efficiency_json(efficiency::efficiency_of(snapshot));
  json["delays"] = delays_json(snapshot.delays, snapshot.regions, sites);
  for (const char* list : {"functions", "blocked", "deadlocks"}) json[list] = session::Json::array();
  for (FunctionActivity function : snapshot.functions) {
    auto& shares = function.history_share;
    if (shares.size() > history_windows) shares.erase(shares.begin(), shares.end() - history_windows);
    json["functions"].push_back(function_json(function));
  }
  for (const RankSummary& rank : blocked_ranks(snapshot)) {
    if (json["blocked"].size() < most_blocked) json["blocked"].push_back(inside_json(rank, sites));
  }
  for (const Deadlock& deadlock : snapshot.deadlocks) json["deadlocks"].push_back(deadlock_json(deadlock, sites));
  return json;
}

}  // namespace pclscope::views
