#include "viewer/views/logical_rows.hpp"

#include <nlohmann/json.hpp>

#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/site_json.hpp"

namespace pclscope::views {
namespace {

using logical::LatenessSum;
using session::Json;
using text::Align;

constexpr std::size_t phase_ranks_width = 16;
constexpr std::size_t ranks_in_csv = 200;

template <class Nanoseconds>
double in_s(Nanoseconds ns) {
  return static_cast<double>(ns) * 1e-9;
}

void add_lateness(Json& to, const std::string& prefix, const LatenessSum& of, const Sites& sites) {
  to[prefix + "lateness_s"] = session::finite(in_s(of.sum_ns));
  to["max_" + prefix + "lateness_s"] = session::finite(in_s(of.most_ns));
  to[prefix + "late_rank"] = of.rank < 0 ? Json(nullptr) : Json(of.rank);
  to[prefix + "late_rank_s"] = session::finite(in_s(of.rank_ns));
  to[prefix + "late_site"] = of.rank < 0 ? Json(nullptr) : site_json(of.site, sites);
}

// "12 at halo.c:42"
std::string late_text(const LatenessSum& of, const Sites& sites) {
  return of.rank < 0 ? "-" : std::to_string(of.rank) + " at " + sites.brief(of.site);
}

}  // namespace

Json phase_json(const PhaseRow& row, const Sites& sites) {
  const logical::PhaseSum& s = row.sum;
  Json json = {{"phase", row.number},
               {"ranks", s.ranks},
               {"first_step", row.first_step},
               {"last_step", row.last_step},
               {"begin_s", session::finite(in_s(s.begin_ns))},
               {"end_s", session::finite(in_s(s.end_ns))},
               {"events", s.events},
               {"messages", s.messages},
               {"collectives", s.collectives},
               {"unpaired", s.unpaired}};
  add_lateness(json, "", s.lateness, sites);
  add_lateness(json, "entry_", s.entry, sites);
  json["after"] = row.after;
  return json;
}

Json step_json(const StepRow& row, const Sites& sites) {
  const logical::StepSum& s = row.sum;
  Json json = {{"phase", row.phase},
               {"step", s.step},
               {"begin_s", session::finite(in_s(s.begin_ns))},
               {"end_s", session::finite(in_s(s.end_ns))},
               {"events", s.sends + s.receives + s.collectives},
               {"sends", s.sends},
               {"receives", s.receives},
               {"collectives", s.collectives}};
  add_lateness(json, "", s.lateness, sites);
  add_lateness(json, "entry_", s.entry, sites);
  return json;
}

Rows phase_rows(const std::vector<PhaseRow>& rows, const Sites& sites) {
  const auto flat = [&](const PhaseRow& row) {
    Json json = phase_json(row, sites);
    json["ranks"] = text::compact_ranks(row.sum.ranks, ranks_in_csv);
    return json;
  };
  std::vector<Json> objects;
  for (const PhaseRow& row : rows) objects.push_back(flat(row));
  return rows_of(objects, flat({}));
}

Rows step_rows(const std::vector<StepRow>& rows, const Sites& sites) {
  std::vector<Json> objects;
  for (const StepRow& row : rows) objects.push_back(step_json(row, sites));
  return rows_of(objects, step_json({}, sites));
}

std::vector<std::string> phase_lines(const std::vector<PhaseRow>& rows, const Sites& sites, std::size_t width) {
  text::Table table;
  for (const char* title : {"phase", "steps", "from", "to"}) table.column(title, Align::right);
  table.column("ranks", Align::left);
  for (const char* title : {"messages", "colls", "lateness", "worst"}) table.column(title, Align::right);
  table.column("most late", Align::left);
  table.column("came late", Align::right);
  table.column("most", Align::left);
  for (const PhaseRow& row : rows) {
    const logical::PhaseSum& s = row.sum;
    table.row({std::to_string(row.number), std::to_string(row.first_step) + "-" + std::to_string(row.last_step),
               text::format_moment(in_s(s.begin_ns)), text::format_moment(in_s(s.end_ns)),
               text::compact_ranks(s.ranks, phase_ranks_width), text::format_short_count(s.messages),
               text::format_short_count(s.collectives), text::format_seconds(in_s(s.lateness.sum_ns)),
               text::format_seconds(in_s(s.lateness.most_ns)), late_text(s.lateness, sites),
               text::format_seconds(in_s(s.entry.sum_ns)), late_text(s.entry, sites)});
  }
  return table.lines(width);
}

std::vector<std::string> step_lines(const std::vector<StepRow>& rows, const Sites& sites, std::size_t width) {
  text::Table table;
  for (const char* title : {"phase", "step", "from", "to", "sends", "receives", "colls", "lateness", "worst"})
    table.column(title, Align::right);
  table.column("most late", Align::left);
  table.column("came late", Align::right);
  table.column("most", Align::left);
  for (const StepRow& row : rows) {
    const logical::StepSum& s = row.sum;
    table.row({std::to_string(row.phase), std::to_string(s.step), text::format_moment(in_s(s.begin_ns)),
               text::format_moment(in_s(s.end_ns)), text::format_short_count(s.sends),
               text::format_short_count(s.receives), text::format_short_count(s.collectives),
               text::format_seconds(in_s(s.lateness.sum_ns)), text::format_seconds(in_s(s.lateness.most_ns)),
               late_text(s.lateness, sites), text::format_seconds(in_s(s.entry.sum_ns)), late_text(s.entry, sites)});
  }
  return table.lines(width);
}

}  // namespace pclscope::views
