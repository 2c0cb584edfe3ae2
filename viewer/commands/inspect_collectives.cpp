// pclscope inspect TARGET collectives: how long ranks waited in which collective operations, and for whom.
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/views/collective_rows.hpp"

namespace pclscope::commands {

int inspect_collectives(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return fail(span.error().code == ErrorCode::bad_argument ? wrong_usage : could_not, span.error().message);
  views::CollectiveSums sums;
  const bool live = run.session->live();
  if (live && (words.from_ns || words.to_ns || !words.ranks.empty())) {
    return fail(could_not,
                "a running job tells of collectives since its start only: give the dump for periods and ranks");
  }
  if (!live) {
    const Status read = run.session->collectives(*span, [&](std::span<const CollectiveCall> batch) {
      for (const CollectiveCall& call : batch) {
        if (run.chosen(words, call.rank)) sums.add(call);
      }
      return true;
    });
    if (!read) return fail(could_not, read.error().message);
  }
  std::vector<views::CollectiveRow> rows = sums.rows();
  if (words.limit && rows.size() > *words.limit) rows.resize(static_cast<std::size_t>(*words.limit));
  // The summary's totals are complete; what is stored may be less.
  const CollectiveTotals& totals = run.snapshot.collectives;
  const std::string why = live ? "a running job tells the totals only" : why_partial(run);
  tell_partial(run, why);
  if (words.format == Format::csv) return print_rows(views::collective_rows(rows));
  if (words.format == Format::text)
    return print_lines(views::collective_lines(totals, rows, inspect_page(words).width)) ? done : could_not;
  session::Json json = {
      {"operations", totals.operations}, {"calls", totals.calls}, {"wait_s", session::finite(totals.wait_s)}};
  json["functions"] = session::Json::array();
  for (const views::CollectiveRow& row : rows) json["functions"].push_back(views::collective_json(row));
  add_partial(json, why);
  return print_json(json);
}

}  // namespace pclscope::commands
