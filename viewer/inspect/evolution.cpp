// pclscope inspect TARGET evolution: how regions changed over time.
#include <algorithm>

#include "viewer/inspect/topic.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/views/evolution_rows.hpp"

namespace pclscope::commands {
namespace {

int show_evolution(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  if (words.region) {
    if (const auto found = session::find_region(s, *words.region); !found)
      return fail(could_not, found.error().message);
    for (std::vector<Region>* regions : {&s.regions, &s.ended_regions})
      std::erase_if(*regions, [&](const Region& region) { return region.id != *words.region; });
  }
  std::vector<views::RegionEvolution> regions;
  if (run.session->live()) {
    regions = views::live_evolution(s);
  } else {
    const auto windows = run.session->windows();
    if (!windows) return fail(could_not, windows.error().message);
    regions = views::evolution_of(s, *windows);
  }
  cut(words, regions);
  return show(
      words, run, why_incomplete(run),
      [&](const views::PageOptions& page) { return views::evolution_lines(regions, s.time_origin_realtime_ns, page); },
      [&] { return views::evolution_rows(regions); }, [&] { return views::evolution_json(regions); });
}

}  // namespace

extern const Topic evolution_topic;
const Topic evolution_topic{"evolution", takes::tables | takes::region, show_evolution};

}  // namespace pclscope::commands
