// The two distances as the PCLVis papers print them for their example. They count partners, not messages.
#pragma once

#include <Eigen/Core>
#include <cstdint>

#include "analysis/region/graph.hpp"

namespace pclscope {

// Earlier version: R(p, q) = sum over simple paths from p to q with at most 3 edges of 1 / edges^2; 0 on the diagonal.
// Not by walking along the paths, of which a dense graph has n^4: with A the adjacency matrix and n_p partners of p,
// R_pq = A_pq + (A^2)_pq / 4 + ((A^3)_pq - A_pq (n_p + n_q - 1)) / 9. Time O(n (n + edges)), memory 16 n^2 bytes.
Eigen::MatrixXd path_correlations(const CommunicationGraph& graph);

// Final version: r = 1 / d^2 with d the number of edges of a shortest path, w = r / row sum,
// D = -(log w_pq + log w_qp) / 2. Not a metric. The graph must be connected. Time O(n edges) at most (a search ends
// when all have been reached), memory 16 n^2 bytes.
Eigen::MatrixXd printed_free_energy_distances(const CommunicationGraph& graph);

}  // namespace pclscope
