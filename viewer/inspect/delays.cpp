// pclscope inspect TARGET delays: where delays began and what they cost. From the summary, or for a period, ranks or a
// region from the stored messages.
#include <algorithm>

#include "analysis/delay/delay_report.hpp"
#include "viewer/inspect/stored_calls.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/views/delay_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;

constexpr std::uint64_t most_lines = 20;

struct FoundDelays {
  std::vector<DelayOrigin> origins;
  DelayTotals totals;
  std::string why_partial;
};

Json totals_json(const DelayTotals& t) {
  return {{"waits", t.waits},
          {"waited_s", session::finite(t.waited_s)},
          {"attributed_s", session::finite(t.attributed_s)},
          {"inside_mpi_s", session::finite(t.inside_mpi_s)},
          {"unknown_s", session::finite(t.unknown_s)},
          {"messages_left_out", t.messages_left_out}};
}

std::string totals_line(const DelayTotals& t) {
  return "waited " + text::format_seconds(t.waited_s) + " in " + text::format_count(t.waits) +
         " waits: " + text::format_seconds(t.attributed_s) + " go back to computation, " +
         text::format_seconds(t.inside_mpi_s) + " to time inside MPI, of " + text::format_seconds(t.unknown_s) +
         " the cause is not known" +
         (t.messages_left_out == 0
              ? ""
              : "; " + text::format_count(t.messages_left_out) + " messages came too fast to be followed");
}

Result<FoundDelays> of_period(const InspectWords& words, InspectedRun& run) {
  const auto span = span_of(words, run);
  if (!span) return span.error();
  DelayQuestion question;
  question.from_ns = span->begin_ns;
  question.to_ns = span->end_ns;
  question.ranks = words.ranks;
  question.most = static_cast<std::size_t>(std::min<std::uint64_t>(words.limit.value_or(SIZE_MAX), SIZE_MAX));
  if (words.region) {
    const auto region = session::find_region(run.snapshot, *words.region);
    if (!region) return region.error();
    question.ranks = (*region)->ranks;
  }
  auto calls = read_calls(*span, run);
  if (!calls) return calls.error();
  DelayReport report = delays_of(run.snapshot.application.ranks, calls->messages, calls->collectives, question);
  return FoundDelays{std::move(report.origins), report.totals, std::move(calls->why_partial)};
}

Result<FoundDelays> of_run(const InspectWords& words, InspectedRun& run) {
  const bool filtered = words.from_ns || words.to_ns || words.region || !words.ranks.empty();
  if (!filtered) return FoundDelays{run.snapshot.delays, run.snapshot.delay_totals, why_incomplete(run)};
  if (!run.session->live()) return of_period(words, run);
  return Error{ErrorCode::not_found,
               "a running job tells of delays since its start only: give the dump for periods and ranks"};
}

int show_delays(const InspectWords& words, InspectedRun& run) {
  auto found = of_run(words, run);
  if (!found) return fail(found.error());
  const std::uint64_t limit = words.limit.value_or(words.format == Format::text ? most_lines : UINT64_MAX);
  const std::size_t all = found->origins.size();
  if (all > limit) found->origins.resize(static_cast<std::size_t>(limit));
  const Snapshot& s = run.snapshot;
  const views::Sites sites(s.sites);
  const auto text = [&](const views::PageOptions& page) {
    std::vector<std::string> lines = views::delay_lines(found->origins, s.regions, sites, page.width);
    if (all > found->origins.size())
      lines.push_back("... " + text::format_count(all - found->origins.size()) + " more; --limit N shows more");
    if (found->totals.waits > 0) lines.push_back(totals_line(found->totals));
    return lines;
  };
  const auto json = [&] {
    Json object = {{"delays", views::delays_json(found->origins, s.regions, sites)}};
    object["totals"] = totals_json(found->totals);
    return object;
  };
  return show(
      words, run, found->why_partial, text, [&] { return views::delay_rows(found->origins, s.regions, sites); }, json);
}

}  // namespace

extern const Topic delays_topic;
const Topic delays_topic{"delays", takes::tables | takes::rank | takes::region | takes::period | takes::lines,
                         show_delays};

}  // namespace pclscope::commands
