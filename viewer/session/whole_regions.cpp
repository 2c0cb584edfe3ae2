#include "viewer/session/whole_regions.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/region/chance.hpp"

namespace pclscope::session {

Result<WholeRegions> whole_regions(Session& session, std::int32_t ranks, const std::string& method) {
  const auto traffic = session.traffic();
  if (!traffic) return traffic.error();
  std::vector<Link> pairs;
  pairs.reserve(traffic->size());
  for (const PairTraffic& p : *traffic) pairs.push_back({p.source, p.destination, static_cast<double>(p.messages)});
  RegionOptions options;
  if (const auto named = region_method(method)) options.method = *named;
  const SignificantRegions found = find_significant_regions(CommunicationGraph(ranks, pairs), options);
  const std::vector<std::int32_t>& region_of = found.partition.region_of_rank;
  WholeRegions whole;
  whole.pattern.modularity = found.partition.modularity;
  whole.pattern.chance_modularity = found.chance_modularity;
  whole.regions.resize(static_cast<std::size_t>(found.partition.regions));
  for (std::size_t rank = 0; rank < region_of.size(); ++rank)
    if (region_of[rank] >= 0)
      whole.regions[static_cast<std::size_t>(region_of[rank])].ranks.push_back(static_cast<std::int32_t>(rank));
  for (std::size_t id = 0; id < whole.regions.size(); ++id) whole.regions[id].id = static_cast<std::int32_t>(id);
  std::map<std::pair<std::int32_t, std::int32_t>, RegionLink> links;
  const auto add = [](const PairTraffic& p, auto& to) {
    to.messages += p.messages;
    to.bytes += p.bytes;
  };
  for (const PairTraffic& p : *traffic) {
    if (p.source < 0 || p.destination < 0 || p.source >= ranks || p.destination >= ranks) continue;
    const std::int32_t a = region_of[static_cast<std::size_t>(p.source)],
                       b = region_of[static_cast<std::size_t>(p.destination)];
    if (a < 0 || b < 0) continue;
    if (a == b) add(p, whole.regions[static_cast<std::size_t>(a)]);
    else add(p, links[std::minmax(a, b)]);
  }
  for (auto& [ends, link] : links) {
    link.a = ends.first;
    link.b = ends.second;
    whole.links.push_back(link);
  }
  std::stable_sort(whole.links.begin(), whole.links.end(),
                   [](const RegionLink& a, const RegionLink& b) { return a.messages > b.messages; });
  return whole;
}

}  // namespace pclscope::session
