#include "analysis/region/printed_distances.hpp"

#include <cmath>
#include <vector>

namespace pclscope {

namespace {

void extend(const CommunicationGraph& graph, std::int32_t start, std::int32_t at, std::int32_t edges,
            std::int32_t depth, std::vector<bool>& on_path, Eigen::MatrixXd& sum) {
  if (edges > 0) sum(start, at) += 1.0 / (edges * edges);
  if (edges == depth) return;
  on_path[at] = true;
  for (const CommunicationGraph::Neighbour& n : graph.neighbours(at))
    if (!on_path[n.rank]) extend(graph, start, n.rank, edges + 1, depth, on_path, sum);
  on_path[at] = false;
}

std::vector<std::int32_t> depths_from(const CommunicationGraph& graph, std::int32_t start) {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(graph.ranks()), -1), open{start};
  depth[start] = 0;
  for (std::size_t i = 0; i < open.size(); ++i)
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(open[i])) {
      if (depth[n.rank] >= 0) continue;
      depth[n.rank] = depth[open[i]] + 1;
      open.push_back(n.rank);
    }
  return depth;
}

}  // namespace

Eigen::MatrixXd path_correlations(const CommunicationGraph& graph, std::int32_t depth) {
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(graph.ranks(), graph.ranks());
  std::vector<bool> on_path(static_cast<std::size_t>(graph.ranks()));
  for (std::int32_t start = 0; start < graph.ranks(); ++start) extend(graph, start, start, 0, depth, on_path, sum);
  return sum;
}

Eigen::MatrixXd printed_free_energy_distances(const CommunicationGraph& graph) {
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(graph.ranks(), graph.ranks());
  for (std::int32_t p = 0; p < graph.ranks(); ++p) {
    const std::vector<std::int32_t> depth = depths_from(graph, p);
    for (std::int32_t q = 0; q < graph.ranks(); ++q)
      if (q != p) w(p, q) = 1.0 / (static_cast<double>(depth[q]) * depth[q]);
    w.row(p) /= w.row(p).sum();
  }
  Eigen::MatrixXd distance = -(w.array().log() + w.transpose().array().log()) / 2;
  distance.diagonal().setZero();
  return distance;
}

}  // namespace pclscope
