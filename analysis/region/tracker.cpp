#include "analysis/region/tracker.hpp"

#include <algorithm>
#include <map>

#include "analysis/region/modularity.hpp"

namespace pclscope {

bool RegionTracker::update(const CommunicationGraph& graph, const RegionOptions& options, double margin) {
  if (static_cast<std::size_t>(graph.ranks()) != region_of_rank_.size()) return false;
  Dendrogram dendrogram;
  const Partition found = find_regions(graph, options, &dendrogram);
  const bool same = found.region_of_rank == region_of_rank_;
  const bool compare =
      !dendrogram_.method.empty() && options.method == method_ && options.method != RegionMethod::paper;
  if (!same && compare) {
    bool complete = true;
    for (std::size_t rank = 0; rank < region_of_rank_.size(); ++rank)
      complete = complete && (region_of_rank_[rank] >= 0) == (found.region_of_rank[rank] >= 0);
    const double present = pclscope::modularity(graph, region_of_rank_);
    if (complete && found.modularity <= present + margin) {
      dendrogram_.modularity = present;
      return false;
    }
  }
  method_ = options.method;
  dendrogram_ = std::move(dendrogram);
  if (!same) adopt(found);
  return !same;
}

void RegionTracker::adopt(const Partition& partition) {
  std::vector<TrackedRegion> made(static_cast<std::size_t>(partition.regions));
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> shared;  // (new, old) -> ranks in both
  for (std::size_t rank = 0; rank < region_of_rank_.size(); ++rank) {
    const std::int32_t now = partition.region_of_rank[rank];
    if (now < 0) continue;
    made[now].id = -1;
    made[now].ranks.push_back(static_cast<std::int32_t>(rank));
    if (region_of_rank_[rank] >= 0) ++shared[{now, region_of_rank_[rank]}];
  }
  // Largest overlap first; the older number wins a tie.
  struct Overlap {
    std::int32_t ranks, old_id, now;
  };
  std::vector<Overlap> overlaps;
  for (const auto& [key, ranks] : shared) overlaps.push_back({ranks, regions_[key.second].id, key.first});
  std::sort(overlaps.begin(), overlaps.end(), [](const Overlap& a, const Overlap& b) {
    return a.ranks != b.ranks ? a.ranks > b.ranks : a.old_id != b.old_id ? a.old_id < b.old_id : a.now < b.now;
  });
  std::vector<bool> taken(static_cast<std::size_t>(next_id_));
  for (const Overlap& o : overlaps) {
    if (taken[o.old_id] || made[o.now].id >= 0) continue;
    taken[o.old_id] = true;
    made[o.now].id = o.old_id;
  }
  for (TrackedRegion& region : made)
    if (region.id < 0) region.id = next_id_++;
  regions_ = std::move(made);
  region_of_rank_ = partition.region_of_rank;
}

}  // namespace pclscope
