// pclscope inspect TARGET criteria: what messages are measured by.
#include "viewer/inspect/topic.hpp"

namespace pclscope::commands {
namespace {

int show_criteria(const InspectWords& words, InspectedRun& run) {
  std::vector<Criterion>& criteria = run.snapshot.criteria;
  cut(words, criteria);
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::criterion_lines(criteria, page.width); },
      [&] { return views::criterion_rows(criteria); },
      [&]() -> session::Json {
        return {{"criteria", array_of(criteria, session::criterion_json)}};
      });
}

}  // namespace

extern const Topic criteria_topic;
const Topic criteria_topic{"criteria", takes::tables, show_criteria};

}  // namespace pclscope::commands
