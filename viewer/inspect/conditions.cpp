// pclscope inspect TARGET conditions: what kept ranks off their cores.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/condition_rows.hpp"

namespace pclscope::commands {
namespace {

int show_conditions(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  cut(words, s.conditions);
  return show(
      words, run, std::nullopt, [&](const views::PageOptions& page) { return views::condition_lines(s, page.width); },
      [&] { return views::condition_rows(s); },
      [&]() -> session::Json {
        return {{"conditions", views::conditions_json(s)}};
      });
}

}  // namespace

extern const Topic conditions_topic;
const Topic conditions_topic{"conditions", takes::tables, show_conditions};

}  // namespace pclscope::commands
