// pclscope inspect TARGET calls: where in the source time was lost, in which MPI functions, and who hung in the end.
#include <algorithm>

#include "viewer/inspect/topic.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/call_site_rows.hpp"
#include "viewer/views/inside_rows.hpp"

namespace pclscope::commands {
namespace {

using Lines = std::vector<std::string>;

constexpr std::uint64_t text_limit = 20;

struct Found {
  std::vector<views::SourceLine> lines;  // of the source, at most as many as asked for
  std::size_t cut = 0;                   // how many more there are
  std::vector<RankSummary> inside;
  views::Sites sites;
};

void append(Lines& lines, const char* title, const Lines& more) {
  if (more.empty()) return;
  lines.insert(lines.end(), {"", title});
  lines.insert(lines.end(), more.begin(), more.end());
}

Lines text_page(const InspectWords& words, const Snapshot& snapshot, const Found& found,
                const views::PageOptions& page) {
  const std::size_t width = page.width;
  Lines lines = views::source_line_lines(found.lines, width);
  if (found.cut > 0 && !words.limit) {
    lines.push_back("... " + text::format_count(found.cut) + " more call sites; --limit N shows more");
  }
  if (words.ranks.empty()) {
    append(lines, "time inside MPI functions, all ranks:", views::function_lines(snapshot, width, page.ascii));
  }
  if (!found.inside.empty()) {
    append(lines, "inside a call at the end:", views::inside_lines(found.inside, found.sites, width));
  }
  append(lines, "nobody could go on:", views::deadlock_lines(snapshot.deadlocks, found.sites));
  return lines;
}

session::Json json_page(const Snapshot& snapshot, const Found& found) {
  session::Json json;
  for (const char* list : {"sites", "functions", "inside", "deadlocks"}) json[list] = session::Json::array();
  for (const auto& line : found.lines) json["sites"].push_back(views::source_line_json(line));
  for (const auto& function : snapshot.functions) json["functions"].push_back(views::function_json(function));
  for (const auto& rank : found.inside) json["inside"].push_back(views::inside_json(rank, found.sites));
  for (const auto& deadlock : snapshot.deadlocks)
    json["deadlocks"].push_back(views::deadlock_json(deadlock, found.sites));
  return json;
}

int show_calls(const InspectWords& words, InspectedRun& run) {
  const Snapshot& snapshot = run.snapshot;
  if (run.session->live() && !words.ranks.empty())
    return fail(could_not, "a running job gives summaries only: give the dump file for --rank");
  std::vector<SiteActivity> activity = snapshot.site_activity;
  if (!words.ranks.empty()) {
    auto of_ranks = views::activity_of_messages(*run.session, views::Criteria(snapshot.criteria), words.ranks);
    if (!of_ranks) return fail(could_not, of_ranks.error().message);
    activity = std::move(*of_ranks);
  }
  Found found;
  found.sites = views::Sites(snapshot.sites);
  found.lines = views::source_lines(activity, found.sites);
  found.inside = views::ranks_inside(snapshot);
  std::erase_if(found.inside, [&](const RankSummary& rank) { return !run.chosen(words, rank.rank); });
  const std::uint64_t limit = words.limit.value_or(words.format == Format::text ? text_limit : UINT64_MAX);
  found.cut = found.lines.size() > limit ? found.lines.size() - static_cast<std::size_t>(limit) : 0;
  found.lines.resize(found.lines.size() - found.cut);
  return show(
      words, run, std::nullopt, [&](const views::PageOptions& page) { return text_page(words, snapshot, found, page); },
      [&] { return views::source_line_rows(found.lines); }, [&] { return json_page(snapshot, found); });
}

}  // namespace

extern const Topic calls_topic;
const Topic calls_topic{"calls", takes::tables | takes::rank | takes::lines, show_calls};

}  // namespace pclscope::commands
