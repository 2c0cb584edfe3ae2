// Communication patterns whose regions are known.
#pragma once

#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope::test {

// NPB CG on a grid of processes: per inner iteration three exchanges with log2(columns) partners of the row and one
// with the transpose partner.
inline CommunicationGraph cg(int rows, int columns) {
  std::vector<Link> links;
  for (int me = 0; me < rows * columns; ++me) {
    const int row = me / columns, col = me % columns;
    for (int d = columns; d >= 2; d /= 2) {
      const int partner = row * columns + ((col % d + d / 2) % d + (col / d) * d);
      links.push_back({me, partner, 3.0});
    }
    const int transpose =
        rows == columns ? (me % rows) * rows + me / rows : 2 * ((me / 2 % rows) * rows + me / 2 / rows) + me % 2;
    links.push_back({me, transpose, 1.0});
  }
  return CommunicationGraph(rows * columns, links);
}

}  // namespace pclscope::test
