// Topics of pclscope inspect: findings, the measures behind them, and the traffic of pairs of ranks.
#include "analysis/callsite/call_sites.hpp"
#include "viewer/commands/command_line.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {

namespace {

void cut(const InspectWords& words, auto& rows) {
  if (words.limit && rows.size() > *words.limit) rows.resize(*words.limit);
}

int print_text(const std::vector<std::string>& lines) { return print_lines(lines) ? done : could_not; }

}  // namespace

int inspect_findings(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  cut(words, s.attribution.findings);
  const views::Sites sites(s.sites);
  const std::string why = why_incomplete(run);
  tell_partial(run, why);
  if (words.format == Format::csv) return print_rows(views::finding_rows(s, sites));
  if (words.format == Format::text) return print_text(views::finding_lines(s, sites, inspect_page(words).width));
  session::Json json = views::findings_json(s, sites);
  add_partial(json, why);
  return print_json(json);
}

int inspect_attribution(const InspectWords& words, InspectedRun& run) {
  const Attribution& attribution = run.snapshot.attribution;
  if (words.format == Format::csv) return print_rows(views::attribution_rows(attribution));
  if (words.format == Format::text) return print_text(views::attribution_lines(attribution, inspect_page(words).width));
  return print_json(views::attribution_json(attribution));
}

int inspect_traffic(const InspectWords& words, InspectedRun& run) {
  auto traffic = run.session->traffic();
  if (!traffic) return fail(could_not, traffic.error().message);
  cut(words, *traffic);
  if (words.format == Format::csv) return print_rows(views::traffic_rows(*traffic));
  if (words.format == Format::text) return print_text(views::traffic_lines(*traffic));
  return print_json(views::traffic_json(*traffic));
}

}  // namespace pclscope::commands
