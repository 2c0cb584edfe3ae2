// The current regions, by numbers that never change their ranks: a region of a new partition that has the ranks of an
// old one keeps its number, every other one gets a number that was never used. A new partition replaces the old one
// only when it is better, so that ties and noise change nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/find_regions.hpp"

namespace pclscope {

struct TrackedRegion {
  std::int32_t id = 0;              // never used for other ranks
  std::vector<std::int32_t> ranks;  // ascending
};

class RegionTracker {
 public:
  explicit RegionTracker(std::int32_t ranks) : region_of_rank_(static_cast<std::size_t>(ranks), -1) {}

  // Clusters the graph; components whose partition is not better than chance are one region (chance.hpp). The result is
  // adopted when a rank without a region needs one, when the method is another one than before, or when its modularity
  // exceeds the present partition's, on this graph, by `margin` (method paper, which looks at partners only and not at
  // modularity: whenever it differs). What was better than chance once stays until it falls to the mean of chance; then
  // one region is adopted. Returns whether the regions changed.
  bool update(const CommunicationGraph& graph, const RegionOptions& options, double margin);

  const std::vector<TrackedRegion>& regions() const { return regions_; }  // by smallest rank
  // Index into regions() of a rank's region, -1 for none.
  std::int32_t region_of(std::int32_t rank) const { return region_of_rank_[rank]; }
  const std::vector<std::int32_t>& region_of_rank() const { return region_of_rank_; }
  // The clustering that the regions are: its tree, with the method's name, and the regions' modularity on the graph of
  // the last update. Heights are those of the last update that gave these regions.
  const Dendrogram& dendrogram() const { return dendrogram_; }
  RegionMethod method() const { return method_; }
  double modularity() const { return dendrogram_.modularity; }
  double chance_modularity() const { return chance_modularity_; }  // of the last update's graph; 0 not known

 private:
  void adopt(const Partition& partition);

  std::vector<TrackedRegion> regions_;
  std::vector<std::int32_t> region_of_rank_;
  Dendrogram dendrogram_;
  double chance_modularity_ = 0;
  RegionMethod method_ = RegionMethod::free_energy;
  std::int32_t next_id_ = 0;
};

}  // namespace pclscope
