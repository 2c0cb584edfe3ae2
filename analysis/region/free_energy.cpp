#include "analysis/region/free_energy.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

namespace pclscope {

namespace {

using Matrix = Eigen::MatrixXd;
using Index = Eigen::Index;

constexpr Index small_block = 48;  // below: plain triangular solve
constexpr Index column_block = 128;

// Replaces the lower triangular block at (o, o) of size n by its inverse.
void invert_lower(Matrix& m, Index o, Index n) {
  if (n <= small_block) {
    Matrix inverse = Matrix::Identity(n, n);
    m.block(o, o, n, n).triangularView<Eigen::Lower>().solveInPlace(inverse);
    m.block(o, o, n, n) = inverse;
    return;
  }
  const Index half = n / 2, rest = n - half;
  auto corner = m.block(o + half, o, rest, half);
  m.block(o, o, half, half).triangularView<Eigen::Lower>().solveInPlace<Eigen::OnTheRight>(corner);
  m.block(o + half, o + half, rest, rest).triangularView<Eigen::Lower>().solveInPlace(corner);
  corner = -corner;
  invert_lower(m, o, half);
  invert_lower(m, o + half, rest);
}

// The lower half of the inverse of a symmetric positive definite matrix: a third of the work of a general solve.
Matrix inverse_lower_half(Matrix& spd) {
  const Index n = spd.rows();
  {
    Eigen::LLT<Eigen::Ref<Matrix>> factor(spd);  // in place: L in the lower half
  }
  spd.triangularView<Eigen::StrictlyUpper>().setZero();
  invert_lower(spd, 0, n);
  Matrix inverse(n, n);
  for (Index column = 0; column < n; column += column_block) {
    const Index width = std::min(column_block, n - column), height = n - column;
    inverse.block(column, column, height, width).noalias() =
        spd.block(column, column, height, height).triangularView<Eigen::Lower>().transpose() *
        spd.block(column, column, height, width);
  }
  return inverse;
}

}  // namespace

Eigen::MatrixXd free_energy_distances(const CommunicationGraph& graph, double beta) {
  const Index n = graph.ranks();
  const double step = std::exp(-beta);
  Matrix system = Matrix::Identity(n, n);
  for (std::int32_t i = 0; i < n; ++i)
    for (const CommunicationGraph::Neighbour& to : graph.neighbours(i))
      system(i, to.rank) = -step * to.weight / std::sqrt(graph.degree(i) * graph.degree(to.rank));
  Matrix distance = inverse_lower_half(system);
  const Eigen::VectorXd self = distance.diagonal().array().log();
  // Paths so long that their weight underflows are as far as a double can tell.
  const double smallest = std::numeric_limits<double>::min();
  for (Index j = 0; j < n; ++j) {
    distance(j, j) = 0;
    for (Index i = j + 1; i < n; ++i) {
      const double d = ((self(i) + self(j)) / 2 - std::log(std::max(distance(i, j), smallest))) / beta;
      distance(i, j) = distance(j, i) = std::max(d, 0.0);
    }
  }
  return distance;
}

}  // namespace pclscope
