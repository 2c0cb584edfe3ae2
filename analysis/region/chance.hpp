// Is a partition better than what the same search finds in graphs without structure? Any sparse graph can be cut into
// parts of some modularity; regions are shown only where there is more to it than that.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/region/find_regions.hpp"
#include "analysis/region/graph.hpp"

namespace pclscope {

// Of one connected component. `gain`: by how much cutting it raises the modularity of the whole graph; `chance_mean`
// and `chance_spread` (standard deviation): of the same in random graphs with the component's degrees, its weights on
// edges at random (configuration model by swaps of edges, no loops, no double edges).
struct ChanceTest {
  double share = 1;  // of all traffic, the component's
  double gain = 0;
  double chance_mean = 0;
  double chance_spread = 0;
  // More than one random graph in 20 has, were they normally distributed, and 15 % more than their mean; or beyond any
  // doubt (5 standard deviations), or 1.4 times the mean (few ranks: few random graphs differ). Gains below 1 % are
  // none.
  bool better() const {
    if (gain <= 0.01 * share || gain <= chance_mean) return false;
    const double beyond = gain - chance_mean;
    return (beyond > 1.645 * chance_spread && beyond > 0.15 * chance_mean) || beyond > 5 * chance_spread ||
           beyond > 0.4 * chance_mean;
  }
  // Within the mean of chance: regions that were found better once are given up.
  bool worse() const { return gain <= 0.01 * share || gain <= chance_mean; }
};

// By how much cutting a component (all of `ranks`) as labelled raises the modularity over leaving it whole; label >= 0.
double cutting_gain(const CommunicationGraph& graph, double total, std::span<const std::int32_t> ranks,
                    std::span<const std::int32_t> label);

// `component` is connected, label[rank] >= 0; `total` = the sum of degrees of the whole graph. Deterministic: the
// random numbers have a fixed seed. Takes at most a few tenths of a second: more than 20,000 edges are tested at
// smaller size, with degrees drawn from the component's.
ChanceTest test_against_chance(const CommunicationGraph& component, double total, std::span<const std::int32_t> label);

// find_regions(), and then one region for each connected component whose partition is not better than chance. Not with
// the method `paper`, whose regions are as printed. `tests`: by component, as graph.components() has them; for those
// found to be one region at once all 0. The dendrogram is left as it was found: the best cut of it may be finer.
struct SignificantRegions {
  Partition partition;           // with its modularity
  double chance_modularity = 0;  // as if every component had the mean of its random graphs; 0: none was cut
  Partition best;                // as find_regions() gave it
  std::vector<ChanceTest> tests;
};
SignificantRegions find_significant_regions(const CommunicationGraph& graph, const RegionOptions& options = {},
                                            Dendrogram* dendrogram = nullptr);

}  // namespace pclscope
