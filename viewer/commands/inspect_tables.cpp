// Topics of pclscope inspect that come from the summary alone: summary, regions, links, ranks, criteria, nodes.
#include <algorithm>

#include "viewer/commands/command_line.hpp"
#include "viewer/commands/inspect_words.hpp"
#include "viewer/session/cut_regions.hpp"
#include "viewer/session/regions.hpp"
#include "viewer/session/summary_json.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/node_rows.hpp"

namespace pclscope::commands {
namespace {

using session::Json;

// Leaves in the snapshot what --rank, --region and --limit ask for.
void choose(const InspectWords& inspect, const InspectedRun& run, Snapshot& snapshot) {
  std::erase_if(snapshot.regions, [&](const Region& region) {
    return (inspect.region && region.id != *inspect.region) ||
           std::none_of(region.ranks.begin(), region.ranks.end(), [&](auto rank) { return run.chosen(inspect, rank); });
  });
  std::erase_if(snapshot.links, [&](const RegionLink& link) {
    return inspect.region && link.a != *inspect.region && link.b != *inspect.region;
  });
  std::erase_if(snapshot.ranks, [&](const RankSummary& rank) { return !run.chosen(inspect, rank.rank); });
  if (!inspect.limit) return;
  const auto cut = [&](auto& rows) {
    if (rows.size() > *inspect.limit) rows.resize(*inspect.limit);
  };
  cut(snapshot.regions);
  cut(snapshot.links);
  cut(snapshot.network.links);
  cut(snapshot.ranks);
  cut(snapshot.criteria);
}

template <class T, class ToJson>
Json array_of(const std::vector<T>& values, const ToJson& to_json) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(to_json(value));
  return array;
}

Json topic_json(const std::string& topic, const InspectedRun& run) {
  const Snapshot& s = run.snapshot;
  if (topic == "regions") {
    return {{"regions", array_of(s.regions, session::region_json)}, {"links", array_of(s.links, session::link_json)}};
  }
  if (topic == "links") return {{"links", array_of(s.links, session::link_json)}};
  if (topic == "nodes") {
    return {{"links",
             array_of(s.network.links, [&](const NodeLink& l) { return session::node_link_json(l, s.application); })}};
  }
  if (topic == "criteria") return {{"criteria", array_of(s.criteria, session::criterion_json)}};
  if (topic == "ranks") {
    return {{"ranks", array_of(s.ranks, [&](const RankSummary& r) { return session::rank_json(r, s.application); })}};
  }
  Json json = session::summary_json(s);
  const bool goes_on = run.session->live() && !run.session->complete();
  const std::string why = goes_on ? "the job goes on" : lacking(run);
  json["complete"] = why.empty();
  json["why_incomplete"] = why.empty() ? Json(nullptr) : Json(why);
  const views::Sites sites(s.sites);
  json["findings"] = views::findings_json(s, sites)["findings"];
  json["delays"] = views::delays_json(s.delays, s.regions, sites);
  return json;
}

views::Rows topic_rows(const std::string& topic, const Snapshot& s) {
  if (topic == "regions") return views::region_rows(s.regions);
  if (topic == "links") return views::link_rows(s.links);
  if (topic == "nodes") return views::node_link_rows(s);
  if (topic == "criteria") return views::criterion_rows(s.criteria);
  if (topic == "ranks") return views::rank_rows(s.ranks, s.application);
  return views::summary_rows(s);
}

std::vector<std::string> region_page(const Snapshot& s, std::size_t width) {
  std::vector<std::string> lines = views::region_lines(s.regions, width);
  if (s.links.empty()) return lines;
  lines.insert(lines.end(), {"", "between regions:"});
  for (std::string& line : views::link_lines(s.links, width)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> topic_lines(const std::string& topic, const InspectedRun& run, std::size_t width) {
  const Snapshot& s = run.snapshot;
  if (topic == "regions") return region_page(s, width);
  if (topic == "links") return views::link_lines(s.links, width);
  if (topic == "nodes") return views::node_link_lines(s, width);
  if (topic == "criteria") return views::criterion_lines(s.criteria, width);
  if (topic == "ranks") return views::rank_lines(s.ranks, s.application, width);
  return views::summary_lines(s, lacking(run), width);
}

}  // namespace

int inspect_tables(const InspectWords& inspect, InspectedRun& run) {
  Snapshot& snapshot = run.snapshot;
  std::string why;  // the summary tells all, other cuts what is stored
  if (inspect.cut || inspect.cut_height) {
    auto cut = session::cut_regions(*run.session, snapshot, inspect.cut, inspect.cut_height.value_or(0));
    if (!cut) return fail(could_not, cut.error().message);
    snapshot.regions = std::move(cut->regions);
    snapshot.links = std::move(cut->links);
    tell_partial(run, why = why_partial(run));
  }
  if (inspect.region) {
    if (const auto found = session::find_region(snapshot, *inspect.region); !found)
      return fail(could_not, found.error().message);
  }
  if (inspect.topic != "summary") choose(inspect, run, snapshot);
  if (inspect.format == Format::json) {
    Json json = topic_json(inspect.topic, run);
    if (inspect.cut || inspect.cut_height) add_partial(json, why);
    return print_json(json);
  }
  if (inspect.format == Format::csv) return print_rows(topic_rows(inspect.topic, snapshot));
  const auto lines = topic_lines(inspect.topic, run, inspect_page(inspect).width);
  return print_lines(lines) ? done : could_not;
}

}  // namespace pclscope::commands
