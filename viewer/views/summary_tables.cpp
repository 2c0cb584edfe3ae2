#include "viewer/views/summary_tables.hpp"

#include <algorithm>

#include "viewer/session/harm.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/blocked_time_lines.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/held_up_text.hpp"
#include "viewer/views/network_lines.hpp"
#include "viewer/views/pattern_lines.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/site_text.hpp"

namespace pclscope::views {
namespace {

using text::Align;
using Lines = std::vector<std::string>;

text::Table table_of(const std::vector<std::pair<const char*, Align>>& columns) {
  text::Table table;
  for (const auto& [title, align] : columns) table.column(title, align);
  return table;
}

std::string node_of(const RankSummary& rank, const Application& application) {
  const auto node = static_cast<std::size_t>(rank.node);
  return rank.node >= 0 && node < application.nodes.size() ? text::printable(application.nodes[node]) : "-";
}

std::string size_range(const Criterion& c) {
  if (c.bytes_high == c.bytes_low + 1) return text::format_bytes(c.bytes_low);
  return text::format_bytes(c.bytes_low) + " to " + text::format_bytes(c.bytes_high);
}

std::string collectives_line(const CollectiveTotals& totals) {
  return text::format_count(totals.operations) + (totals.operations == 1 ? " operation of " : " operations of ") +
         text::format_count(totals.calls) + " calls, waited " + text::format_seconds(totals.wait_s);
}

std::string latency_text(const Snapshot& s) {
  if (s.messages.matched == 0) return "of no message";
  return "median " + text::format_seconds(s.latency.median_s) + ", p99 " + text::format_seconds(s.latency.p99_s) +
         ", ratio typical " + text::format_ratio(s.latency.typical_ratio) + ", mean " +
         text::format_ratio(s.latency.mean_ratio);
}

// "12.5 s", "10 min, the last event at 2.1 s, not finished"
std::string time_text(const Snapshot& s) {
  constexpr double worth_telling = 1;
  const double elapsed = session::elapsed_s(s);
  std::string line = text::format_seconds(elapsed);
  if (elapsed - s.duration_s > worth_telling) line += ", the last event at " + text::format_seconds(s.duration_s);
  return line + (s.finished ? "" : ", not finished");
}

}  // namespace

std::vector<std::string> summary_lines(const Snapshot& snapshot, const std::string& lacking, std::size_t width) {
  const Application& app = snapshot.application;
  const MessageTotals& m = snapshot.messages;
  Lines lines = {"command    " + text::printable(app.command),
                 "run        " + text::printable(app.mpi.empty() ? "MPI not known" : app.mpi) + ", " +
                     std::to_string(app.ranks) + " ranks on " + std::to_string(app.nodes.size()) +
                     (app.nodes.size() == 1 ? " node" : " nodes"),
                 "time       " + text::format_utc(snapshot.time_origin_realtime_ns) + ", " + time_text(snapshot),
                 "messages   " + text::format_count(m.matched) + " matched, " + text::format_bytes(m.bytes),
                 "           unmatched " + text::format_count(m.unmatched_sends) + " sends and " +
                     text::format_count(m.unmatched_receives) + " receives, ambiguous " +
                     text::format_count(m.ambiguous) + ", dropped events " + text::format_count(m.dropped_events),
                 "latency    " + latency_text(snapshot)};
  if (!lacking.empty()) lines.insert(lines.begin() + 3, "not complete: " + lacking);
  if (m.half_recorded > 0) lines.push_back("           half recorded " + text::format_count(m.half_recorded));
  if (m.clock_violations + m.clock_unclear > 0 || m.foreign > 0) {
    lines.push_back("           clock violations " + text::format_count(m.clock_violations) + ", unclear " +
                    text::format_count(m.clock_unclear) + ", foreign messages " + text::format_count(m.foreign));
  }
  if (const std::string held_up = held_up_text(snapshot); !held_up.empty()) lines.push_back("           " + held_up);
  for (std::string& line : network_lines(snapshot)) lines.push_back(std::move(line));
  const Lines inside = inside_mpi_lines(snapshot);
  for (std::size_t i = 0; i < inside.size(); ++i) lines.push_back((i == 0 ? "inside MPI " : "           ") + inside[i]);
  if (const std::string text = efficiency_text(efficiency::efficiency_of(snapshot)); !text.empty())
    lines.push_back("efficiency " + text);
  if (snapshot.collectives.operations > 0) lines.push_back("collective " + collectives_line(snapshot.collectives));
  if (const std::string kept = kept_line(snapshot.retention); !kept.empty()) lines.push_back("kept       " + kept);
  const Sites sites(snapshot.sites);
  if (Lines first = sentence_lines(snapshot, sites, width, SIZE_MAX); !first.empty()) {
    first.push_back("");
    lines.insert(lines.begin(), first.begin(), first.end());
  }
  Lines conditions;
  for (std::size_t i = 0; i < std::min<std::size_t>(snapshot.conditions.size(), 3); ++i)
    conditions.push_back((i == 0 ? "condition  " : "           ") + condition_line(snapshot.conditions[i], snapshot));
  const bool before = conditions_first(snapshot);
  if (before) lines.insert(lines.end(), conditions.begin(), conditions.end());
  if (!snapshot.attribution.findings.empty())
    lines.push_back("finding    " + finding_line(snapshot.attribution.findings.front(), snapshot, sites));
  if (!before) lines.insert(lines.end(), conditions.begin(), conditions.end());
  for (std::size_t i = 0; i < std::min<std::size_t>(snapshot.delays.size(), 3); ++i) {
    lines.push_back((i == 0 ? "delays     " : "           ") + delay_line(snapshot.delays[i], sites));
  }
  if (const std::uint64_t out = snapshot.delay_totals.messages_left_out; out > 0 && m.matched > 0)
    lines.push_back(
        "           delays are of " +
        text::format_share(1 - static_cast<double>(std::min(out, m.matched)) / static_cast<double>(m.matched)) +
        " of the messages: the others came too fast to be followed");
  if (const std::string quality = modularity_text(snapshot); !quality.empty())
    lines.push_back(
        "regions    " + std::to_string(snapshot.regions.size()) + " now" +
        (snapshot.ended_regions.empty() ? "" : ", " + std::to_string(snapshot.ended_regions.size()) + " ended") + "; " +
        quality);
  const Lines changes = pattern_change_lines(snapshot);
  for (std::size_t i = changes.size() - std::min<std::size_t>(changes.size(), 5); i < changes.size(); ++i)
    lines.push_back("           " + changes[i]);
  lines.push_back("");
  const Lines regions = region_lines(session::harmful_first(snapshot), width);
  constexpr std::size_t most = 15;
  lines.insert(lines.end(), regions.begin(),
               regions.begin() + static_cast<std::ptrdiff_t>(std::min(regions.size(), most + 1)));
  if (regions.size() > most + 1)
    lines.push_back("... " + std::to_string(regions.size() - most - 1) + " more: inspect FILE regions");
  if (width > 0) {
    for (std::string& line : lines) line = text::clip(line, width);
  }
  return lines;
}

std::vector<std::string> region_lines(const std::vector<Region>& regions, std::size_t width) {
  if (regions.empty()) return {"no regions: no messages between ranks were matched"};
  auto table = table_of({{"region", Align::right},
                         {"ranks", Align::left},
                         {"messages", Align::right},
                         {"bytes", Align::right},
                         {"typical", Align::right},
                         {"mean", Align::right},
                         {"late send", Align::right},
                         {"late recv", Align::right},
                         {"transfer", Align::right},
                         {"xfer ratio", Align::right},
                         {"in colls", Align::right},
                         {"newest period", Align::left}});
  const bool intervals =
      std::any_of(regions.begin(), regions.end(), [](const Region& r) { return !interval_text(r).empty(); });
  if (intervals) table.column("when", Align::left);
  for (const Region& r : regions) {
    const std::string ranks = width > 0 ? text::compact_ranks(r.ranks, width / 5) : text::compact_ranks(r.ranks);
    std::vector<std::string> row = {std::to_string(r.id),
                                    ranks,
                                    width > 0 ? text::format_short_count(r.messages) : text::format_count(r.messages),
                                    text::format_bytes(r.bytes),
                                    text::format_ratio(r.level()),
                                    text::format_ratio(r.mean_latency_ratio),
                                    text::format_seconds(r.late_sender_s),
                                    text::format_seconds(r.late_receiver_s),
                                    text::format_seconds(r.transfer_s),
                                    text::format_ratio(r.mean_transfer_ratio),
                                    text::format_seconds(r.collective_wait_s),
                                    newest_period(r)};
    if (intervals) row.push_back(interval_text(r));
    table.row(std::move(row));
  }
  return table.lines(width);
}

std::vector<std::string> rank_lines(const std::vector<RankSummary>& ranks, const Application& application,
                                    std::size_t width) {
  if (ranks.empty()) return {"no ranks were recorded"};
  const bool going_on = std::any_of(ranks.begin(), ranks.end(), [](const RankSummary& r) { return going_on_s(r) > 0; });
  text::Table table = table_of({{"rank", Align::right},
                                {"sends", Align::right},
                                {"receives", Align::right},
                                {"sent", Align::right},
                                {"received", Align::right},
                                {"colls", Align::right},
                                {"ratio", Align::right},
                                {"in MPI", Align::right},
                                {"late send", Align::right},
                                {"late recv", Align::right},
                                {"transfer", Align::right},
                                {"in colls", Align::right},
                                {"1-sided", Align::right},
                                {"files", Align::right},
                                {"other", Align::right},
                                {"init+fin", Align::right}});
  if (going_on) table.column("not returned", Align::right);
  for (const char* title : {"caused", "ran", "off core", "asleep", "others", "dropped"})
    table.column(title, Align::right);
  table.column("node", Align::left);
  for (const RankSummary& r : ranks) {
    // Without a record of calls (an older dump, an imported trace) the parts are not known.
    const auto part = [&](double s) { return r.threads > 0 ? text::format_seconds(s) : std::string("-"); };
    const bool known = r.running_s + r.off_core_s + r.asleep_s > 0;
    const auto cores = [&](double s) { return known ? text::format_seconds(s) : std::string("-"); };
    std::vector<std::string> row = {std::to_string(r.rank),
                                    text::format_short_count(r.sends),
                                    text::format_short_count(r.receives),
                                    text::format_bytes(r.bytes_sent),
                                    text::format_bytes(r.bytes_received),
                                    text::format_short_count(r.collectives),
                                    text::format_ratio(r.mean_latency_ratio),
                                    text::format_seconds(r.mpi_s + going_on_s(r)),
                                    part(r.late_sender_s),
                                    part(r.late_receiver_s),
                                    part(r.transfer_s),
                                    text::format_seconds(r.collective_wait_s),
                                    part(r.one_sided_s),
                                    part(r.file_s),
                                    part(r.other_s),
                                    part(r.init_s + r.finalize_s)};
    if (going_on) row.push_back(text::format_seconds(going_on_s(r)));
    row.insert(row.end(), {text::format_seconds(r.delay_caused_s), cores(r.running_s), cores(r.off_core_s),
                           cores(r.asleep_s), known ? text::format_share(r.other_load) : "-",
                           text::format_short_count(r.dropped_events), node_of(r, application)});
    table.row(std::move(row));
  }
  return table.lines(width);
}

std::vector<std::string> criterion_lines(const std::vector<Criterion>& criteria, std::size_t width) {
  if (criteria.empty()) return {"no criteria: no messages were matched"};
  auto table = table_of({{"class", Align::left},
                         {"message size", Align::left},
                         {"messages", Align::right},
                         {"median time", Align::right},
                         {"of transfer", Align::right}});
  for (const Criterion& c : criteria) {
    table.row({c.inter_node ? "inter-node" : "intra-node", size_range(c), text::format_count(c.count),
               text::format_seconds(c.median_s),
               c.transfer_median_s > 0 ? text::format_seconds(c.transfer_median_s) : "-"});
  }
  return table.lines(width);
}

}  // namespace pclscope::views
