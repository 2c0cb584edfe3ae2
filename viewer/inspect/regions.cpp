// pclscope inspect TARGET regions and links: communication regions, and the messages between them.
#include "viewer/session/regions.hpp"

#include <algorithm>

#include "viewer/inspect/topic.hpp"
#include "viewer/session/cut_regions.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/session/whole_regions.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/pattern_lines.hpp"

namespace pclscope::commands {
namespace {

// Leaves in the snapshot what --region, --rank and --limit ask for; says why when there is no such region.
std::optional<Error> choose(const InspectWords& words, const InspectedRun& run, Snapshot& s) {
  if (words.region) {
    if (const auto found = session::find_region(s, *words.region); !found) return found.error();
  }
  for (std::vector<Region>* regions : {&s.regions, &s.ended_regions})
    std::erase_if(*regions, [&](const Region& region) {
      return (words.region && region.id != *words.region) ||
             std::none_of(region.ranks.begin(), region.ranks.end(), [&](auto rank) { return run.chosen(words, rank); });
    });
  // Those of now first.
  s.regions.insert(s.regions.end(), s.ended_regions.begin(), s.ended_regions.end());
  s.links.insert(s.links.end(), s.ended_links.begin(), s.ended_links.end());
  std::erase_if(s.links, [&](const RegionLink& link) {
    return words.region && link.a != *words.region && link.b != *words.region;
  });
  cut(words, s.regions);
  cut(words, s.links);
  return std::nullopt;
}

std::vector<std::string> region_page(const Snapshot& s, const std::vector<std::string>& above, std::size_t width) {
  std::vector<std::string> lines = above;
  for (std::string& line : views::region_lines(session::harmful_first(s), width)) lines.push_back(std::move(line));
  if (s.links.empty()) return lines;
  lines.insert(lines.end(), {"", "between regions:"});
  for (std::string& line : views::link_lines(s.links, width)) lines.push_back(std::move(line));
  return lines;
}

int show_regions(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  std::vector<std::string> above = views::pattern_change_lines(s);
  if (const std::string quality = views::modularity_text(s); !quality.empty()) above.insert(above.begin(), quality);
  if (!above.empty()) above.push_back("");
  std::optional<std::string> why;  // the summary tells all, other cuts what is stored
  if (words.whole) {
    auto whole = session::whole_regions(*run.session, s.application.ranks, s.dendrogram.method);
    if (!whole) return fail(could_not, whole.error().message);
    s.regions = std::move(whole->regions);
    s.links = std::move(whole->links);
    s.pattern = whole->pattern;
    s.ended_regions.clear();
    s.ended_links.clear();
    above = {"of the whole run: " + views::modularity_text(s), ""};
  } else if (words.cut || words.cut_height) {
    s.ended_regions.clear();
    s.ended_links.clear();
    above.clear();
    auto other = session::cut_regions(*run.session, s, words.cut, words.cut_height.value_or(0));
    if (!other) return fail(could_not, other.error().message);
    s.regions = std::move(other->regions);
    s.links = std::move(other->links);
    why = why_partial(run);
  }
  if (const auto error = choose(words, run, s)) return fail(could_not, error->message);
  const auto json = [&]() -> session::Json {
    return {{"regions", array_of(s.regions, session::region_json)}, {"links", array_of(s.links, session::link_json)}};
  };
  return show(
      words, run, why, [&](const views::PageOptions& page) { return region_page(s, above, page.width); },
      [&] { return views::region_rows(s.regions); }, json);
}

int show_links(const InspectWords& words, InspectedRun& run) {
  Snapshot& s = run.snapshot;
  if (const auto error = choose(words, run, s)) return fail(could_not, error->message);
  return show(
      words, run, std::nullopt, [&](const views::PageOptions& page) { return views::link_lines(s.links, page.width); },
      [&] { return views::link_rows(s.links); },
      [&]() -> session::Json {
        return {{"links", array_of(s.links, session::link_json)}};
      });
}

}  // namespace

extern const Topic regions_topic, links_topic;
const Topic regions_topic{"regions", takes::tables | takes::rank | takes::region | takes::cut, show_regions};
const Topic links_topic{"links", takes::tables | takes::region, show_links};

}  // namespace pclscope::commands
