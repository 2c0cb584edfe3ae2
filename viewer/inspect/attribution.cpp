// pclscope inspect TARGET attribution: the measures over time that findings rest on.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

int show_attribution(const InspectWords& words, InspectedRun& run) {
  const Attribution& attribution = run.snapshot.attribution;
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::attribution_lines(attribution, page.width); },
      [&] { return views::attribution_rows(attribution); }, [&] { return views::attribution_json(attribution); });
}

}  // namespace

extern const Topic attribution_topic;
const Topic attribution_topic{"attribution", takes::tables, show_attribution};

}  // namespace pclscope::commands
