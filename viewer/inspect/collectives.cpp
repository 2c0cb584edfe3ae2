// pclscope inspect TARGET collectives: how long ranks waited in which collective operations, and for whom.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/collective_rows.hpp"

namespace pclscope::commands {
namespace {

int show_collectives(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
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
  cut(words, rows);
  // The summary's totals are complete; what is stored may be less.
  const CollectiveTotals& totals = run.snapshot.collectives;
  const std::string why = live ? "a running job tells the totals only" : why_partial(run);
  const auto json = [&] {
    session::Json object = {
        {"operations", totals.operations}, {"calls", totals.calls}, {"wait_s", session::finite(totals.wait_s)}};
    object["functions"] = array_of(rows, views::collective_json);
    return object;
  };
  return show(
      words, run, why,
      [&](const views::PageOptions& page) { return views::collective_lines(totals, rows, page.width); },
      [&] { return views::collective_rows(rows); }, json);
}

}  // namespace

extern const Topic collectives_topic;
const Topic collectives_topic{"collectives", takes::tables | takes::rank | takes::period, show_collectives};

}  // namespace pclscope::commands
