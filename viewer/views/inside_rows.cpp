#include "viewer/views/inside_rows.hpp"

#include <algorithm>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/blocked/deadlock_text.hpp"
#include "viewer/session/row_json.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

using session::Json;

constexpr std::size_t history_width = 40;

}  // namespace

Json function_json(const FunctionActivity& f) {
  Json shares = Json::array();
  for (const float share : f.history_share) shares.push_back(session::finite(share));
  Json json = session::row_json<FunctionRow>(f);
  json["function"] = function_name(f.function);
  json["history_share"] = shares;
  return json;
}

Json inside_json(const RankSummary& r, const Sites& sites) {
  return {{"rank", r.rank},
          {"function", function_name(r.call_function)},
          {"for_s", session::finite(r.call_for_s)},
          {"tag", r.call_tag},
          {"waits_for", r.waits_for},
          {"waits_for_any", r.waits_for_any},
          {"site", site_json(r.call_site, sites)}};
}

Json deadlock_json(const Deadlock& d, const Sites& sites) {
  Json members = Json::array();
  for (const DeadlockMember& m : d.members) {
    Json& member = members.emplace_back(session::row_json<DeadlockMemberRow>(m));
    member["function"] = function_name(m.function);
    member["called"] = m.called == 0 ? Json(nullptr) : Json(function_name(m.called));
    member["site"] = site_json(m.site, sites);
    member["waits_for"] = m.waits_for;
  }
  Json json = session::row_json<DeadlockRow>(d);
  json["members"] = members;
  return json;
}

std::vector<std::string> function_lines(const Snapshot& snapshot, std::size_t width, bool ascii) {
  if (snapshot.functions.empty()) return {"no MPI calls were recorded"};
  text::Table table;
  table.column("function", text::Align::left);
  for (const char* title : {"calls", "inside", "share"}) table.column(title, text::Align::right);
  table.column("over time", text::Align::left);
  const double all = session::elapsed_s(snapshot) * snapshot.application.ranks;
  float most = 0;
  for (const FunctionActivity& f : snapshot.functions) {
    for (const float share : f.history_share) most = std::max(most, share);
  }
  for (const FunctionActivity& f : snapshot.functions) {
    const std::vector<std::uint32_t> weights(f.history_share.size(), 1);
    // Time in polls is sampled, their number is of those that found something.
    const std::string about = blocked::call_kind(f.function) == blocked::CallKind::polling ? "~" : "";
    table.row({function_name(f.function), text::format_count(f.calls), about + text::format_seconds(f.inside_s),
               text::format_share(all > 0 ? std::min(1.0, f.inside_s / all) : 0),
               text::sparkline(f.history_share, weights, history_width, most, ascii)});
  }
  return table.lines(width);
}

std::vector<RankSummary> ranks_inside(const Snapshot& snapshot) {
  std::vector<RankSummary> ranks;
  if (snapshot.finished) return ranks;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.call_function != 0 && !rank.finished) ranks.push_back(rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankSummary& a, const RankSummary& b) { return a.call_for_s > b.call_for_s; });
  return ranks;
}

std::vector<std::string> inside_lines(const std::vector<RankSummary>& ranks, const Sites& sites, std::size_t width) {
  text::Table table;
  table.column("rank", text::Align::right);
  table.column("inside", text::Align::left);
  table.column("for", text::Align::right);
  table.column("waits for", text::Align::left);
  table.column("where", text::Align::left);
  for (const RankSummary& r : ranks) {
    table.row({std::to_string(r.rank), function_name(r.call_function), text::format_seconds(r.call_for_s),
               blocked::waits_text(r), sites.brief(r.call_site)});
  }
  return table.lines(width);
}

std::vector<std::string> deadlock_lines(const std::vector<Deadlock>& deadlocks, const Sites& sites) {
  std::vector<std::string> lines;
  for (const Deadlock& deadlock : deadlocks) {
    lines.push_back("deadlock since " + text::format_seconds(deadlock.since_s) + ": " +
                    blocked::deadlock_text(deadlock, [&](const DeadlockMember& member) {
                      return sites.find(member.site) == nullptr ? std::string() : sites.brief(member.site);
                    }));
  }
  return lines;
}

}  // namespace pclscope::views
