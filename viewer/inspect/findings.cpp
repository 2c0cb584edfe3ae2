// pclscope inspect TARGET findings: why messages are late.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

int show_findings(const InspectWords& words, InspectedRun& run) {
  const Snapshot& s = run.snapshot;
  const auto span = span_of(words, run);
  if (!span) return fail(span.error());
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  views::Places places = views::findings_of(s, words.ranks, seconds(span->begin_ns), seconds(span->end_ns));
  cut(words, places);
  const views::Sites sites(s.sites);
  const bool weaker = words.limit.has_value();
  if (words.gdb) return print_lines(views::finding_breakpoints(s, sites, places, weaker)) ? done : could_not;
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) { return views::finding_lines(s, sites, page.width, places, weaker); },
      [&] { return views::finding_rows(s, sites, places); }, [&] { return views::findings_json(s, sites, places); });
}

}  // namespace

extern const Topic findings_topic;
const Topic findings_topic{"findings", takes::tables | takes::rank | takes::period | takes::lines | takes::gdb,
                           show_findings};

}  // namespace pclscope::commands
