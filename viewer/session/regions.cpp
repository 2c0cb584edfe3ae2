#include "viewer/session/regions.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "viewer/text/rank_list.hpp"

namespace pclscope::session {

Result<const Region*> find_region(const Snapshot& snapshot, std::int32_t id) {
  std::vector<std::int32_t> known;
  for (const Region& region : snapshot.regions) {
    if (region.id == id) return &region;
    known.push_back(region.id);
  }
  for (const Region& region : snapshot.ended_regions) {
    if (region.id == id) return &region;
    known.push_back(region.id);
  }
  const std::string no = "no region " + std::to_string(id) + ": ";
  if (known.empty())
    return Error{ErrorCode::not_found, no + "the run has none, no messages between ranks were matched"};
  return Error{ErrorCode::not_found,
               no + (known.size() == 1 ? "there is " : "there are ") + text::compact_ranks(known, 60)};
}

std::vector<PatternChange> pattern_changes(const Snapshot& snapshot) {
  std::map<double, PatternChange> changes;
  const auto add = [&](const Region& region) {
    if (region.from_s > 0) changes[region.from_s].began.push_back(region.id);
    if (region.until_s >= 0) changes[region.until_s].ended.push_back(region.id);
  };
  for (const Region& region : snapshot.regions) add(region);
  for (const Region& region : snapshot.ended_regions) add(region);
  std::vector<PatternChange> list;
  for (auto& [at_s, change] : changes) {
    change.at_s = at_s;
    std::sort(change.ended.begin(), change.ended.end());
    std::sort(change.began.begin(), change.began.end());
    list.push_back(std::move(change));
  }
  return list;
}

}  // namespace pclscope::session
