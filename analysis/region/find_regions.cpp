#include "analysis/region/find_regions.hpp"

#include <algorithm>

#include "analysis/region/coarsen.hpp"
#include "analysis/region/free_energy.hpp"
#include "analysis/region/linkage.hpp"
#include "analysis/region/modularity.hpp"

namespace pclscope {

namespace {

// local[rank] = position of the rank in `members`, which are a whole connected component.
CommunicationGraph part_of(const CommunicationGraph& graph, const std::vector<std::int32_t>& members,
                           const std::vector<std::int32_t>& local) {
  std::vector<Link> links;
  for (const std::int32_t rank : members)
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
      if (rank < n.rank) links.push_back({local[rank], local[n.rank], n.weight});
  return CommunicationGraph(static_cast<std::int32_t>(members.size()), links);
}

}  // namespace

Partition find_regions(const CommunicationGraph& graph, const RegionOptions& options) {
  Partition partition;
  partition.region_of_rank.assign(static_cast<std::size_t>(graph.ranks()), -1);
  std::vector<std::int32_t> local(static_cast<std::size_t>(graph.ranks()), -1);  // position in the component
  std::int32_t labels = 0;
  for (const std::vector<std::int32_t>& members : graph.components()) {
    for (std::size_t i = 0; i < members.size(); ++i) local[members[i]] = static_cast<std::int32_t>(i);
    const CommunicationGraph component = part_of(graph, members, local);
    const Coarsening coarse = coarsen(component, options.dense_limit);
    const CommunicationGraph small = component.contracted(coarse.group, coarse.groups);
    const std::vector<Merge> merges = average_linkage(free_energy_distances(small, options.beta));
    const std::vector<std::int32_t> community = best_cut(component, coarse.group, merges, graph.total());
    std::vector<std::int32_t> label(members.size());
    for (std::size_t i = 0; i < members.size(); ++i) label[i] = community[coarse.group[i]];
    if (coarse.groups < component.ranks()) improve_by_moves(component, graph.total(), label);
    for (std::size_t i = 0; i < members.size(); ++i) partition.region_of_rank[members[i]] = labels + label[i];
    labels += *std::max_element(label.begin(), label.end()) + 1;
  }
  // Regions of different components may interleave: number them by their smallest rank.
  std::vector<std::int32_t> number(static_cast<std::size_t>(labels), -1);
  for (std::int32_t& region : partition.region_of_rank) {
    if (region < 0) continue;
    if (number[region] < 0) number[region] = partition.regions++;
    region = number[region];
  }
  partition.modularity = modularity(graph, partition.region_of_rank);
  return partition;
}

}  // namespace pclscope
