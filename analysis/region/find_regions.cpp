#include "analysis/region/find_regions.hpp"

#include <algorithm>

#include "analysis/region/canonical_order.hpp"
#include "analysis/region/cluster_component.hpp"
#include "analysis/region/dendrogram.hpp"
#include "analysis/region/modularity.hpp"
#include "analysis/region/refine.hpp"

namespace pclscope {

namespace {

constexpr std::size_t shaken_edges = 60'000;  // edges visited for the sake of shakes (communities.hpp)
constexpr std::size_t most_shakes = 48;

struct Component {
  std::vector<std::int32_t> ranks;  // in canonical order
  CommunicationGraph graph;         // of positions in `ranks`
};

CommunicationGraph part_of(const CommunicationGraph& graph, const std::vector<std::int32_t>& members,
                           std::vector<std::int32_t>& local) {
  for (std::size_t i = 0; i < members.size(); ++i) local[members[i]] = static_cast<std::int32_t>(i);
  std::vector<Link> links;
  links.reserve(std::min(graph.edges(), members.size() * members.size()));
  for (const std::int32_t rank : members)
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(rank))
      if (rank < n.rank) links.push_back({local[rank], local[n.rank], n.weight});
  return CommunicationGraph(static_cast<std::int32_t>(members.size()), links);
}

std::vector<Component> canonical_components(const CommunicationGraph& graph) {
  std::vector<Component> components;
  std::vector<std::int32_t> local(static_cast<std::size_t>(graph.ranks()), -1);
  for (std::vector<std::int32_t>& members : graph.components()) {
    const bool whole = members.size() == local.size();
    std::vector<std::int32_t> order = canonical_order(whole ? graph : part_of(graph, members, local));
    for (std::int32_t& at : order) at = members[at];
    components.push_back({std::move(order), {}});
    components.back().graph = part_of(graph, components.back().ranks, local);
  }
  return components;
}

// The same for any order of the components, to the last bit.
double total_of(const std::vector<Component>& components) {
  std::vector<double> totals;
  for (const Component& c : components) totals.push_back(c.graph.total());
  std::sort(totals.begin(), totals.end());
  double total = 0;
  for (const double t : totals) total += t;
  return total;
}

}  // namespace

Partition find_regions(const CommunicationGraph& graph, const RegionOptions& options, Dendrogram* dendrogram) {
  Partition partition;
  partition.region_of_rank.assign(static_cast<std::size_t>(graph.ranks()), -1);
  const std::vector<Component> components = canonical_components(graph);
  const double total = total_of(components);
  const auto shakes = static_cast<int>(std::min(most_shakes, shaken_edges / (graph.edges() + 1)));
  Forest forest(graph.ranks());
  std::int32_t labels = 0;
  for (const Component& c : components) {
    const ClusteredComponent made = cluster_component(c.graph, total, options, shakes);
    for (std::size_t i = 0; i < c.ranks.size(); ++i)
      partition.region_of_rank[c.ranks[i]] = labels + made.region_of_rank[i];
    labels += *std::max_element(made.region_of_rank.begin(), made.region_of_rank.end()) + 1;
    if (dendrogram != nullptr) forest.add(c.ranks, made.leaf_of_rank, made.leaves, made.merges);
  }
  partition.regions = number_labels(partition.region_of_rank);
  partition.modularity = modularity(graph, partition.region_of_rank);
  if (dendrogram != nullptr) {
    *dendrogram = forest.take();
    dendrogram->method = name_of(options.method);
    dendrogram->modularity = partition.modularity;
  }
  return partition;
}

}  // namespace pclscope
