// Communication patterns whose regions are known.
#pragma once

#include <vector>

#include "analysis/region/graph.hpp"

namespace pclscope::test {

// NPB CG on a grid of processes: per inner iteration three exchanges with log2(columns) partners of the row and one
// with the transpose partner.
inline std::vector<Link> cg_links(int rows, int columns) {
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
  return links;
}

inline CommunicationGraph cg(int rows, int columns) {
  return CommunicationGraph(rows * columns, cg_links(rows, columns));
}

// Halo exchange on a box, with or without neighbours across its faces; equal counts.
inline std::vector<Link> halo_links(int x, int y, int z, bool periodic) {
  std::vector<Link> links;
  const auto rank = [&](int i, int j, int k) { return i % x + x * (j % y + y * (k % z)); };
  for (int k = 0; k < z; ++k)
    for (int j = 0; j < y; ++j)
      for (int i = 0; i < x; ++i) {
        if (periodic || i + 1 < x) links.push_back({rank(i, j, k), rank(i + 1, j, k), 100.0});
        if (periodic || j + 1 < y) links.push_back({rank(i, j, k), rank(i, j + 1, k), 100.0});
        if (periodic || k + 1 < z) links.push_back({rank(i, j, k), rank(i, j, k + 1), 100.0});
      }
  return links;
}

}  // namespace pclscope::test
