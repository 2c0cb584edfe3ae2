#include "analysis/region/cluster_component.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/region/coarsen.hpp"
#include "analysis/region/communities.hpp"
#include "analysis/region/free_energy.hpp"
#include "analysis/region/modularity.hpp"
#include "analysis/region/printed_distances.hpp"
#include "analysis/region/refine.hpp"
#include "analysis/region/region_tree.hpp"

namespace pclscope {

namespace {

using Labels = std::vector<std::int32_t>;

constexpr double least_beta = 1e-3, most_beta = 20;
constexpr std::int32_t least_dense = 8, free_energy_dense = 768, printed_dense = 2048;

std::int32_t dense_limit(const RegionOptions& options) {
  if (options.dense_limit == 0) return options.method == RegionMethod::free_energy ? free_energy_dense : printed_dense;
  return std::max(options.dense_limit, least_dense);
}

// The component with at most so many nodes: itself, or groups of its ranks.
struct Nodes {
  Coarsening coarsening;
  CommunicationGraph graph;
  std::vector<double> size;  // ranks per node
};

Nodes nodes_of(const CommunicationGraph& component, const RegionOptions& options, const Labels& keep_apart) {
  const std::int32_t limit = dense_limit(options), n = component.ranks();
  Nodes nodes;
  nodes.coarsening = coarsen(component, n > limit ? limit / 2 : limit, keep_apart);
  const Coarsening& c = nodes.coarsening;
  nodes.graph = c.groups == n ? component : component.contracted(c.group, c.groups);
  nodes.size.assign(static_cast<std::size_t>(c.groups), 0);
  for (const std::int32_t group : c.group) ++nodes.size[group];
  return nodes;
}

double usable_beta(const RegionOptions& options) {
  return std::isnan(options.beta) ? RegionOptions{}.beta : std::clamp(options.beta, least_beta, most_beta);
}

ClusteredComponent uncut(const Nodes& nodes, std::vector<Merge> merges) {
  return {{}, nodes.coarsening.group, nodes.coarsening.groups, std::move(merges)};
}

// label[rank] = that of its leaf.
void set_regions(ClusteredComponent& made, const Labels& label_of_leaf) {
  made.region_of_rank.resize(made.leaf_of_rank.size());
  for (std::size_t rank = 0; rank < made.leaf_of_rank.size(); ++rank)
    made.region_of_rank[rank] = label_of_leaf[made.leaf_of_rank[rank]];
  number_labels(made.region_of_rank);
}

ClusteredComponent by_paper(const CommunicationGraph& component, const RegionOptions& options) {
  const Nodes nodes = nodes_of(component, options, {});
  ClusteredComponent made =
      uncut(nodes, link_clusters(printed_free_energy_distances(nodes.graph), Linkage::average, nodes.size));
  set_regions(made, cut_at_height(made.leaves, made.merges, options.threshold));
  return made;
}

ClusteredComponent by_correlation(const CommunicationGraph& component, double total, const RegionOptions& options) {
  const Nodes nodes = nodes_of(component, options, {});
  Eigen::MatrixXd distance = path_correlations(nodes.graph);
  const double most = distance.size() == 0 ? 0 : distance.maxCoeff();
  distance = most - distance.array();  // linkage joins what is near
  distance.diagonal().setZero();
  ClusteredComponent made = uncut(nodes, link_clusters(distance, Linkage::average, nodes.size));
  for (Merge& m : made.merges) m.height -= most;  // the negative correlation
  set_regions(made, best_cut(component, made.leaf_of_rank, made.leaves, made.merges, total));
  return made;
}

// Regions better than any cut of the tree so far: a tree that has them, and the best cut of that.
ClusteredComponent around(const CommunicationGraph& component, double total, const RegionOptions& options,
                          Labels region_of_rank) {
  const std::int32_t regions = number_labels(region_of_rank);
  if (regions > dense_limit(options)) {  // a dense tree of them would cost too much: leaves only
    return {region_of_rank, region_of_rank, regions, {}};
  }
  const Nodes nodes = nodes_of(component, options, region_of_rank);
  Labels region_of_leaf(static_cast<std::size_t>(nodes.coarsening.groups));
  for (std::size_t rank = 0; rank < region_of_rank.size(); ++rank)
    region_of_leaf[nodes.coarsening.group[rank]] = region_of_rank[rank];
  number_labels(region_of_leaf);
  const Eigen::MatrixXd distance = free_energy_distances(nodes.graph, usable_beta(options));
  ClusteredComponent made = uncut(nodes, link_regions(distance, nodes.size, region_of_leaf));
  set_regions(made, best_cut(component, made.leaf_of_rank, made.leaves, made.merges, total));
  return made;
}

}  // namespace

ClusteredComponent cluster_component(const CommunicationGraph& component, double total, const RegionOptions& options,
                                     int shakes) {
  if (options.method == RegionMethod::paper) return by_paper(component, options);
  if (options.method == RegionMethod::correlation) return by_correlation(component, total, options);
  const Nodes nodes = nodes_of(component, options, {});
  const Eigen::MatrixXd distance = free_energy_distances(nodes.graph, usable_beta(options));
  ClusteredComponent made = uncut(nodes, link_clusters(distance, Linkage::average, nodes.size));
  set_regions(made, best_cut(component, made.leaf_of_rank, made.leaves, made.merges, total));
  Labels region_of_rank = made.region_of_rank;
  if (!improve_communities(component, total, shakes, region_of_rank)) return made;
  if (made.leaves < component.ranks()) return around(component, total, options, region_of_rank);
  // Leaf = rank: the distances are those that we have.
  made.merges = link_regions(distance, nodes.size, region_of_rank);
  set_regions(made, best_cut(component, made.leaf_of_rank, made.leaves, made.merges, total));
  return made;
}

}  // namespace pclscope
