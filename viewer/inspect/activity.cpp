// pclscope inspect TARGET activity: every call, by MPI function over time.
#include "viewer/inspect/full_density.hpp"
#include "viewer/inspect/topic.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/views/activity_rows.hpp"

namespace pclscope::commands {
namespace {

int show_activity(const InspectWords& words, InspectedRun& run) {
  if (words.region)
    if (const auto found = session::find_region(run.snapshot, *words.region); !found) return fail(found.error());
  ask_full_density(run);
  const views::ActivityOverTime activity = views::activity_of(run.snapshot, words.region);
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) {
        std::vector<std::string> lines = views::activity_lines(activity, page.width, page.ascii);
        if (!activity.why_not.empty()) return lines;
        lines.emplace_back();
        constexpr std::size_t rows = 12, columns = 100;
        for (std::string& line : views::stack_lines(activity, page.width == 0 ? columns : page.width, rows))
          lines.push_back(std::move(line));
        return lines;
      },
      [&] { return views::activity_rows(activity); },
      [&]() -> session::Json {
        return {{"activity", views::activity_json(activity)}};
      });
}

}  // namespace

extern const Topic activity_topic;
const Topic activity_topic{"activity", takes::tables | takes::region, show_activity};

}  // namespace pclscope::commands
