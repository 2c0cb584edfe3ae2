// pclscope inspect TARGET waits: how long ranks waited for others, in which wait state, where, and for whom.
#include "viewer/inspect/topic.hpp"
#include "viewer/views/wait_state_rows.hpp"

namespace pclscope::commands {
namespace {

int show_waits(const InspectWords& words, InspectedRun& run) {
  std::vector<WaitStateSum> rows = views::wait_states_of(run.snapshot);
  cut(words, rows);
  const views::Sites sites(run.snapshot.sites);
  return show(
      words, run, std::nullopt,
      [&](const views::PageOptions& page) { return views::wait_state_lines(rows, sites, page.width); },
      [&] { return views::wait_state_rows(rows, sites); },
      [&]() -> session::Json {
        return {
            {"wait_states", array_of(rows, [&](const WaitStateSum& w) { return views::wait_state_json(w, sites); })}};
      });
}

}  // namespace

extern const Topic waits_topic;
const Topic waits_topic{"waits", takes::tables, show_waits};

}  // namespace pclscope::commands
