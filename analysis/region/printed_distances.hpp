// The two distances as the PCLVis papers print them for their example (reference figures). Kept to check ourselves
// against the papers; the analysis uses free_energy_distances().
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "analysis/region/graph.hpp"

namespace pclscope {

// Earlier version: R(p, q) = sum over simple paths from p to q with at most `depth` edges of 1 / edges^2.
Eigen::MatrixXd path_correlations(const CommunicationGraph& graph, std::int32_t depth);

// Final version: r = 1 / d^2 with d the number of edges of a shortest path, w = r / row sum,
// D = -(log w_pq + log w_qp) / 2. Not a metric. The graph must be connected.
Eigen::MatrixXd printed_free_energy_distances(const CommunicationGraph& graph);

}  // namespace pclscope
