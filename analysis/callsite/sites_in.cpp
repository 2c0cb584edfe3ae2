#include "analysis/callsite/sites_in.hpp"

#include <algorithm>

namespace pclscope {

std::vector<std::uint32_t> sites_in(const Snapshot& snapshot) {
  std::vector<std::uint32_t> ids;
  for (const SiteActivity& activity : snapshot.site_activity) ids.push_back(activity.site);
  for (const RankSummary& rank : snapshot.ranks) ids.push_back(rank.call_site);
  for (const DelayOrigin& origin : snapshot.delays) {
    ids.push_back(origin.site);
    ids.push_back(origin.after_site);
  }
  for (const Finding& finding : snapshot.attribution.findings) ids.push_back(finding.site);
  for (const Deadlock& deadlock : snapshot.deadlocks) {
    for (const DeadlockMember& member : deadlock.members) ids.push_back(member.site);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace pclscope
