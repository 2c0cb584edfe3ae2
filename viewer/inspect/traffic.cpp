// pclscope inspect TARGET traffic: messages and bytes of each pair of ranks.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/finding_rows.hpp"

namespace pclscope::commands {
namespace {

int show_traffic(const InspectWords& words, InspectedRun& run) {
  auto traffic = run.session->traffic();
  if (!traffic) return fail(could_not, traffic.error().message);
  cut(words, *traffic);
  return show(
      words, run, std::nullopt, [&](const views::PageOptions&) { return views::traffic_lines(*traffic); },
      [&] { return views::traffic_rows(*traffic); }, [&] { return views::traffic_json(*traffic); });
}

}  // namespace

extern const Topic traffic_topic;
const Topic traffic_topic{"traffic", takes::tables, show_traffic};

}  // namespace pclscope::commands
