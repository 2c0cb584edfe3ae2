#include "viewer/views/marker_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "viewer/session/row_json.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;

Json marker_json(const Marker& m) {
  Json json = {{"name", m.name}};
  json.update(session::row_json<MarkerRow>(m));
  if (m.iterations == 0) json["lowest_iteration"] = json["highest_iteration"] = nullptr;
  json["in_mpi"] = session::finite(m.time_s > 0 ? m.mpi_s / m.time_s : 0);
  return json;
}

std::string ranks_text(const Marker& m) {
  if (m.ranks == 1) return std::to_string(m.lowest_rank);
  const std::string range = std::to_string(m.lowest_rank) + "-" + std::to_string(m.highest_rank);
  const bool all = static_cast<std::int64_t>(m.highest_rank) - m.lowest_rank + 1 == m.ranks;
  return all ? range : std::to_string(m.ranks) + " of " + range;
}

std::string iterations_text(const Marker& m) {
  if (m.iterations == 0) return "-";
  return std::to_string(m.lowest_iteration) + " to " + std::to_string(m.highest_iteration);
}

constexpr double least_inside = 0.9;  // of a finding's periods

}  // namespace

const Marker* marker_of(const Finding& f, const Snapshot& s) {
  std::vector<FindingPeriod> periods = f.periods;
  if (periods.empty()) periods.push_back({f.begin_s, f.end_s, f.lost_s});
  const Marker* shortest = nullptr;
  for (const Marker& m : s.markers) {
    if (m.times != m.ranks || m.ranks != s.ranks.size() || m.cut > 0) continue;
    double inside_s = 0, whole_s = 0;
    for (const FindingPeriod& p : periods) {
      whole_s += p.end_s - p.begin_s;
      inside_s += std::max(std::min(p.end_s, m.end_s) - std::max(p.begin_s, m.begin_s), 0.0);
    }
    const bool in_it = whole_s > 0 && inside_s >= least_inside * whole_s;
    if (in_it && (shortest == nullptr || m.end_s - m.begin_s < shortest->end_s - shortest->begin_s)) shortest = &m;
  }
  return shortest;
}

Json markers_json(const Snapshot& snapshot) {
  Json list = Json::array();
  for (const Marker& m : snapshot.markers) list.push_back(marker_json(m));
  return list;
}

Rows marker_rows(const Snapshot& snapshot) {
  std::vector<Json> objects;
  for (const Marker& m : snapshot.markers) objects.push_back(marker_json(m));
  return rows_of(objects, marker_json({}));
}

std::vector<std::string> marker_lines(const Snapshot& snapshot, std::size_t width) {
  if (snapshot.markers.empty())
    return {"no markers: the program names no parts of itself with pclscope.h, nor by levels of MPI_Pcontrol above 1"};
  text::Table table;
  table.column("name", text::Align::left);
  for (const char* title : {"ranks", "from", "to", "times", "iterations", "ranks' time", "in MPI", "", "at most"})
    table.column(title, text::Align::right);
  std::uint64_t cut = 0, inside = 0;
  for (const Marker& m : snapshot.markers) {
    cut += m.cut;
    inside += m.inside;
    table.row({text::printable(m.name), ranks_text(m), text::format_moment(m.begin_s), text::format_moment(m.end_s),
               std::to_string(m.times), iterations_text(m), text::format_seconds(m.time_s),
               text::format_seconds(m.mpi_s), text::format_share(m.time_s > 0 ? m.mpi_s / m.time_s : 0),
               text::format_seconds(m.most_s)});
  }
  std::vector<std::string> lines = table.lines(width);
  if (cut > 0)
    lines.push_back(std::to_string(cut) + (cut == 1 ? " end was" : " ends were") +
                    " not recorded: these parts count until the record of their ranks broke off");
  if (inside > 0 && !snapshot.finished) lines.push_back("ranks that are inside now count so far");
  return lines;
}

}  // namespace pclscope::views
