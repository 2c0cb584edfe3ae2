// pclscope inspect TARGET evolution: how regions changed over time.
#include <algorithm>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/views/evolution_rows.hpp"

namespace pclscope::commands {

int inspect_evolution(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  if (words.region) {
    if (const auto found = session::find_region(s, *words.region); !found)
      return fail(could_not, found.error().message);
    std::erase_if(s.regions, [&](const Region& region) { return region.id != *words.region; });
  }
  std::vector<views::RegionEvolution> regions;
  if (run.session->live()) {
    regions = views::live_evolution(s);
  } else {
    const auto windows = run.session->windows();
    if (!windows) return fail(could_not, windows.error().message);
    regions = views::evolution_of(s, *windows);
  }
  if (words.limit && regions.size() > *words.limit) regions.resize(static_cast<std::size_t>(*words.limit));
  const std::string why = why_incomplete(run);
  tell_partial(run, why);
  if (words.format == Format::csv) return print_rows(views::evolution_rows(regions));
  if (words.format == Format::json) {
    session::Json json = views::evolution_json(regions);
    add_partial(json, why);
    return print_json(json);
  }
  return print_lines(views::evolution_lines(regions, s.time_origin_realtime_ns, inspect_page(words))) ? done
                                                                                                      : could_not;
}

}  // namespace pclscope::commands
