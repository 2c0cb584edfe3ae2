#include "analysis/region/printed_distances.hpp"

#include <cmath>
#include <vector>

namespace pclscope {

namespace {

// Walks of two edges between any two ranks, row by row of `neighbours`.
Eigen::MatrixXd walks_of_two(const CommunicationGraph& graph) {
  Eigen::MatrixXd walks = Eigen::MatrixXd::Zero(graph.ranks(), graph.ranks());
  for (std::int32_t p = 0; p < graph.ranks(); ++p)
    for (const CommunicationGraph::Neighbour& a : graph.neighbours(p))
      for (const CommunicationGraph::Neighbour& q : graph.neighbours(a.rank)) walks(q.rank, p) += 1;
  return walks;
}

std::vector<std::int32_t> depths_from(const CommunicationGraph& graph, std::int32_t start) {
  std::vector<std::int32_t> depth(static_cast<std::size_t>(graph.ranks()), -1), open{start};
  depth[start] = 0;
  for (std::size_t i = 0; i < open.size() && open.size() < depth.size(); ++i)
    for (const CommunicationGraph::Neighbour& n : graph.neighbours(open[i])) {
      if (depth[n.rank] >= 0) continue;
      depth[n.rank] = depth[open[i]] + 1;
      open.push_back(n.rank);
    }
  return depth;
}

}  // namespace

Eigen::MatrixXd path_correlations(const CommunicationGraph& graph) {
  const Eigen::MatrixXd two = walks_of_two(graph);
  Eigen::MatrixXd sum = two / 4;
  const auto partners = [&](std::int32_t rank) { return static_cast<double>(graph.neighbours(rank).size()); };
  for (std::int32_t p = 0; p < graph.ranks(); ++p) {
    for (const CommunicationGraph::Neighbour& a : graph.neighbours(p)) {
      sum.col(p) += two.col(a.rank) / 9;
      // Not simple: p-q-b-q and p-a-p-q, of which p-q-p-q is both.
      sum(a.rank, p) += 1 - (partners(p) + partners(a.rank) - 1) / 9;
    }
    sum(p, p) = 0;
  }
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
