// pclscope inspect FILE path: the critical path of a period.
#include <algorithm>

#include "analysis/delay/critical_path.hpp"
#include "viewer/inspect/stored_calls.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;
using text::Align;

constexpr std::uint64_t text_limit = 20;

const char* name_of(PathKind kind) {
  switch (kind) {
    case PathKind::computation: return "computation";
    case PathKind::transfer: return "transfer";
    case PathKind::in_mpi: return "in_mpi";
    case PathKind::collective: return "collective";
  }
  return "computation";
}

Json location(std::uint32_t site, const views::Sites& sites) {
  const std::string text = sites.location(site);
  return text.empty() ? Json(nullptr) : Json(text);
}

Json share_json(const PathShare& s, const views::Sites& sites) {
  return {{"rank", s.rank},
          {"kind", name_of(s.kind)},
          {"site", location(s.site, sites)},
          {"after_site", location(s.after_site, sites)},
          {"steps", s.steps},
          {"on_path_s", session::finite(s.on_path_s)}};
}

Json step_json(const PathStep& s, const views::Sites& sites) {
  return {{"rank", s.rank},
          {"kind", name_of(s.kind)},
          {"site", location(s.site, sites)},
          {"after_site", location(s.after_site, sites)},
          {"begin_s", session::finite(s.begin_s)},
          {"end_s", session::finite(s.end_s)}};
}

Json path_json(const CriticalPath& path, const views::Sites& sites) {
  Json shares = Json::array(), steps = Json::array();
  for (const PathShare& share : path.shares) shares.push_back(share_json(share, sites));
  for (const PathStep& step : path.steps) steps.push_back(step_json(step, sites));
  return {{"begin_s", session::finite(path.begin_s)},
          {"end_s", session::finite(path.end_s)},
          {"shares", shares},
          {"steps", steps}};
}

// `whole`: all calls of the run are known, so that what has no call before or behind it begins with MPI_Init, ends with
// MPI_Finalize.
std::vector<std::string> path_lines(const CriticalPath& path, const views::Sites& sites, std::uint64_t limit,
                                    bool whole, std::size_t width) {
  if (path.steps.empty()) return {"no path: nothing was sent or received in this period"};
  const double length = path.end_s - path.begin_s;
  std::vector<std::string> lines = {"critical path from " + text::format_seconds(path.begin_s) + " to " +
                                    text::format_seconds(path.end_s) + ", " + text::format_count(path.steps.size()) +
                                    " steps"};
  text::Table table;
  for (const char* title : {"on path", "share", "rank"}) table.column(title, Align::right);
  for (const char* title : {"what", "at", "after"}) table.column(title, Align::left);
  table.column("steps", Align::right);
  const std::size_t shown = static_cast<std::size_t>(std::min<std::uint64_t>(limit, path.shares.size()));
  for (std::size_t i = 0; i < shown; ++i) {
    const PathShare& s = path.shares[i];
    const bool computation = s.kind == PathKind::computation;
    table.row({text::format_seconds(s.on_path_s), text::format_share(length > 0 ? s.on_path_s / length : 0),
               std::to_string(s.rank), s.kind == PathKind::in_mpi ? "inside MPI" : name_of(s.kind),
               whole && s.site == 0 ? (computation ? "MPI_Finalize" : "MPI_Init") : sites.brief(s.site),
               !computation                 ? ""
               : whole && s.after_site == 0 ? "MPI_Init"
                                            : sites.brief(s.after_site),
               text::format_short_count(s.steps)});
  }
  for (std::string& line : table.lines(width)) lines.push_back(std::move(line));
  if (shown < path.shares.size())
    lines.push_back("... " + text::format_count(path.shares.size() - shown) + " more; --limit N shows more");
  return lines;
}

int show_path(const InspectWords& words, InspectedRun& run) {
  if (run.session->live()) return fail(could_not, "a running job gives summaries only: give the dump file instead");
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  const auto calls = read_calls(*span, run);
  if (!calls) return fail(could_not, calls.error().message);
  const std::vector<RankLife> lives = lives_of(*calls, run.snapshot);
  const bool whole = !lives.empty() && !words.from_ns && !words.to_ns;
  CriticalPath path = critical_path(run.snapshot.application.ranks, calls->messages, calls->collectives, span->begin_ns,
                                    span->end_ns, lives);
  const views::Sites sites(run.snapshot.sites);
  const std::uint64_t limit = words.limit.value_or(words.format == Format::text ? text_limit : UINT64_MAX);
  if (words.format != Format::text && path.shares.size() > limit) path.shares.resize(static_cast<std::size_t>(limit));
  const auto rows = [&] {
    std::vector<Json> objects;
    for (const PathShare& share : path.shares) objects.push_back(share_json(share, sites));
    return views::rows_of(objects, share_json({}, sites));
  };
  return show(
      words, run, calls->why_partial,
      [&](const views::PageOptions& page) { return path_lines(path, sites, limit, whole, page.width); }, rows,
      [&] { return path_json(path, sites); });
}

}  // namespace

extern const Topic path_topic;
const Topic path_topic{"path", takes::tables | takes::period | takes::lines, show_path};

}  // namespace pclscope::commands
