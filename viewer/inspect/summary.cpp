// pclscope inspect TARGET: the summary.
#include "viewer/inspect/compared.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/views/condition_rows.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::commands {
namespace {

using session::Json;

Json summary(const InspectedRun& run) {
  const Snapshot& s = run.snapshot;
  Json json = session::summary_json(s);
  const bool goes_on = run.session->live() && !run.session->complete();
  const std::string why = goes_on ? "the job goes on" : lacking(run);
  json["complete"] = why.empty();
  json["why_incomplete"] = why.empty() ? Json(nullptr) : Json(why);
  const views::Sites sites(s.sites);
  json["findings"] = views::findings_json(s, sites)["findings"];
  json["conditions"] = views::conditions_json(s);
  json["conditions_first"] = views::conditions_first(s);
  json["sentences"] = views::sentences(s, sites);
  json["efficiency"] = views::efficiency_json(efficiency::efficiency_of(s));
  json["delays"] = views::delays_json(s.delays, s.regions, sites);
  return json;
}

int show_comparison(const InspectWords& words, InspectedRun& run) {
  const auto before = open_compared(words.compare);
  if (!before) return fail(could_not, before.error().message);
  const auto now = compared_run(words.target, run);
  if (!now) return fail(could_not, now.error().message);
  const views::Comparison c = views::compare(*before, *now);
  if (words.format == Format::json) return print_json(views::comparison_json(c, *before, *now));
  const std::vector<std::string> lines = views::comparison_lines(c, *before, *now, inspect_page(words).width);
  return print_lines(lines) ? done : could_not;
}

int show_summary(const InspectWords& words, InspectedRun& run) {
  if (!words.compare.empty()) return show_comparison(words, run);
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::summary_lines(run.snapshot, lacking(run), page.width); },
      [&] { return views::summary_rows(run.snapshot); }, [&] { return summary(run); });
}

}  // namespace

extern const Topic summary_topic;
const Topic summary_topic{"summary", takes::tables | takes::compare, show_summary};

}  // namespace pclscope::commands
