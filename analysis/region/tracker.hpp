// The current regions with identities that last: a new partition inherits each region's number from the old region
// it overlaps most, and replaces the old partition only when it is better, so that ties and noise change nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/region/find_regions.hpp"

namespace pclscope {

struct TrackedRegion {
  std::int32_t id = 0;              // never used for another region
  std::vector<std::int32_t> ranks;  // ascending
};

class RegionTracker {
 public:
  explicit RegionTracker(std::int32_t ranks) : region_of_rank_(static_cast<std::size_t>(ranks), -1) {}

  // Clusters the graph. The result is adopted when a rank without a region needs one, when the method is another one
  // than before, or when its modularity exceeds the present partition's, on this graph, by `margin` (method paper,
  // which looks at partners only and not at modularity: whenever it differs). Returns whether the regions changed.
  bool update(const CommunicationGraph& graph, const RegionOptions& options, double margin);

  const std::vector<TrackedRegion>& regions() const { return regions_; }  // by smallest rank
  // Index into regions() of a rank's region, -1 for none.
  std::int32_t region_of(std::int32_t rank) const { return region_of_rank_[rank]; }
  // The clustering that the regions are: its tree, with the method's name, and the regions' modularity on the graph of
  // the last update. Heights are those of the last update that gave these regions.
  const Dendrogram& dendrogram() const { return dendrogram_; }
  RegionMethod method() const { return method_; }
  double modularity() const { return dendrogram_.modularity; }

 private:
  void adopt(const Partition& partition);

  std::vector<TrackedRegion> regions_;
  std::vector<std::int32_t> region_of_rank_;
  Dendrogram dendrogram_;
  RegionMethod method_ = RegionMethod::free_energy;
  std::int32_t next_id_ = 0;
};

}  // namespace pclscope
