// pclscope inspect TARGET findings: why messages are late.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

int show_findings(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  cut(words, s.attribution.findings);
  const views::Sites sites(s.sites);
  if (words.gdb) return print_lines(views::finding_breakpoints(s, sites, words.limit.has_value())) ? done : could_not;
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) {
        return views::finding_lines(s, sites, page.width, words.limit.has_value());
      },
      [&] { return views::finding_rows(s, sites); }, [&] { return views::findings_json(s, sites); });
}

}  // namespace

extern const Topic findings_topic;
const Topic findings_topic{"findings", takes::tables | takes::lines | takes::gdb, show_findings};

}  // namespace pclscope::commands
