#include "viewer/commands/inspect_calls.hpp"

#include <algorithm>

#include "viewer/commands/command_line.hpp"
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

bool concerns(const CallsQuestion& question, std::int32_t rank) {
  return question.ranks.empty() || std::binary_search(question.ranks.begin(), question.ranks.end(), rank);
}

void append(Lines& lines, const char* title, const Lines& more) {
  if (more.empty()) return;
  lines.insert(lines.end(), {"", title});
  lines.insert(lines.end(), more.begin(), more.end());
}

Lines text_page(const CallsQuestion& question, const Snapshot& snapshot, const Found& found) {
  const views::PageOptions page = page_options(false);
  const std::size_t width = output_is_terminal() ? page.width : 0;
  Lines lines = views::source_line_lines(found.lines, width);
  if (found.cut > 0 && !question.limit) {
    lines.push_back("... " + text::format_count(found.cut) + " more call sites; --limit N shows more");
  }
  if (question.ranks.empty()) {
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

}  // namespace

int print_calls(const CallsQuestion& question, session::Session& session, const Snapshot& snapshot) {
  std::vector<SiteActivity> activity = snapshot.site_activity;
  if (!question.ranks.empty()) {
    auto of_ranks = views::activity_of_messages(session, views::Criteria(snapshot.criteria), question.ranks);
    if (!of_ranks) return fail(could_not, of_ranks.error().message);
    activity = std::move(*of_ranks);
  }
  Found found;
  found.sites = views::Sites(snapshot.sites);
  found.lines = views::source_lines(activity, found.sites);
  found.inside = views::ranks_inside(snapshot);
  std::erase_if(found.inside, [&](const RankSummary& rank) { return !concerns(question, rank.rank); });
  const std::uint64_t limit = question.limit.value_or(question.format == Format::text ? text_limit : UINT64_MAX);
  found.cut = found.lines.size() > limit ? found.lines.size() - static_cast<std::size_t>(limit) : 0;
  found.lines.resize(found.lines.size() - found.cut);
  Lines lines;
  if (question.format == Format::json) {
    lines.push_back(session::to_text(json_page(snapshot, found), true));
  } else if (question.format == Format::csv) {
    const views::Rows rows = views::source_line_rows(found.lines);
    lines.push_back(text::csv_line(rows.titles));
    for (const auto& row : rows.cells) lines.push_back(text::csv_line(row));
  } else {
    lines = text_page(question, snapshot, found);
  }
  return print_lines(lines) ? done : could_not;
}

}  // namespace pclscope::commands
