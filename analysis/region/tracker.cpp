#include "analysis/region/tracker.hpp"

#include <algorithm>
#include <map>

#include "analysis/region/chance.hpp"
#include "analysis/region/modularity.hpp"
#include "analysis/region/refine.hpp"

namespace pclscope {

namespace {

using Labels = std::vector<std::int32_t>;

bool cuts(const Labels& label, const std::vector<std::int32_t>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [&](std::int32_t rank) { return label[rank] != label[ranks.front()]; });
}

// Components that the present regions cut, and where the found partition is not better than chance: they stay as they
// are until they are within chance themselves. Returns whether one is given up.
bool decide_doubtful(const CommunicationGraph& graph, const std::vector<ChanceTest>& tests, const Labels& present,
                     Labels& found) {
  bool given_up = false;
  std::size_t component = 0;
  auto next = static_cast<std::int32_t>(found.size());
  for (const std::vector<std::int32_t>& ranks : graph.components()) {
    ChanceTest test = component < tests.size() ? tests[component] : ChanceTest{};
    ++component;
    const bool known = std::all_of(ranks.begin(), ranks.end(), [&](std::int32_t rank) { return present[rank] >= 0; });
    if (!known || test.better() || test.chance_mean <= 0 || !cuts(present, ranks)) continue;
    test.gain = cutting_gain(graph, graph.total(), ranks, present);
    if (test.worse()) {
      given_up = true;
      continue;
    }
    for (const std::int32_t rank : ranks) found[rank] = next + present[rank];
    next += static_cast<std::int32_t>(found.size());
  }
  number_labels(found);
  return given_up;
}

}  // namespace

bool RegionTracker::update(const CommunicationGraph& graph, const RegionOptions& options, double margin) {
  if (static_cast<std::size_t>(graph.ranks()) != region_of_rank_.size()) return false;
  Dendrogram dendrogram;
  SignificantRegions significant = find_significant_regions(graph, options, &dendrogram);
  Partition& found = significant.partition;
  chance_modularity_ = significant.chance_modularity;
  const bool compare =
      !dendrogram_.method.empty() && options.method == method_ && options.method != RegionMethod::paper;
  const bool given_up = compare && decide_doubtful(graph, significant.tests, region_of_rank_, found.region_of_rank);
  const bool same = found.region_of_rank == region_of_rank_;
  if (!same && compare && !given_up) {
    bool complete = true;
    for (std::size_t rank = 0; rank < region_of_rank_.size(); ++rank)
      complete = complete && (region_of_rank_[rank] >= 0) == (found.region_of_rank[rank] >= 0);
    const double present = pclscope::modularity(graph, region_of_rank_);
    if (complete && pclscope::modularity(graph, found.region_of_rank) <= present + margin) {
      dendrogram_.modularity = present;
      return false;
    }
  }
  method_ = options.method;
  dendrogram_ = std::move(dendrogram);
  if (!same) adopt(found);
  dendrogram_.modularity = pclscope::modularity(graph, region_of_rank_);
  return !same;
}

void RegionTracker::adopt(const Partition& partition) {
  std::map<std::vector<std::int32_t>, std::int32_t> known;  // id by ranks
  for (TrackedRegion& region : regions_) known.emplace(std::move(region.ranks), region.id);
  const std::int32_t regions = *std::max_element(partition.region_of_rank.begin(), partition.region_of_rank.end()) + 1;
  std::vector<TrackedRegion> made(static_cast<std::size_t>(regions));
  for (std::size_t rank = 0; rank < region_of_rank_.size(); ++rank) {
    const std::int32_t now = partition.region_of_rank[rank];
    if (now >= 0) made[now].ranks.push_back(static_cast<std::int32_t>(rank));
  }
  for (TrackedRegion& region : made) {
    const auto same = known.find(region.ranks);
    region.id = same != known.end() ? same->second : next_id_++;
  }
  regions_ = std::move(made);
  region_of_rank_ = partition.region_of_rank;
}

}  // namespace pclscope
