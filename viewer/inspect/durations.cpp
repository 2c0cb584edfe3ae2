// pclscope inspect TARGET durations: every call, by MPI function, time and duration: what the picture of calls shows.
#include "viewer/inspect/full_density.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/views/duration_rows.hpp"

namespace pclscope::commands {
namespace {

int show_durations(const InspectWords& words, InspectedRun& run) {
  ask_full_density(run);
  const views::CallDurations durations = views::durations_of(run.snapshot);
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) { return views::duration_lines(durations, page.width, page.ascii); },
      [&] { return views::duration_rows(durations); },
      [&]() -> session::Json {
        return {{"durations", views::durations_json(durations)}};
      });
}

}  // namespace

extern const Topic durations_topic;
const Topic durations_topic{"durations", takes::tables, show_durations};

}  // namespace pclscope::commands
