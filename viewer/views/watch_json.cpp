#include "viewer/views/watch_json.hpp"

#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/inside_rows.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {
namespace {
constexpr std::size_t history_windows = 60;  // one object per line is meant to be read by programs as it comes
constexpr std::size_t most_blocked = 100;
}  // namespace

session::Json watch_json(const Snapshot& snapshot, std::optional<std::int64_t> now_realtime_ns) {
  session::Json json = session::summary_json(snapshot, now_realtime_ns);
  const Sites sites(snapshot.sites);
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
