// The matrix of a network as pixels (Fujiwara et al. 4.4, 6.2): a row and a column for each vertex, or block of
// vertices; grey where a link is, coloured by the bytes that the shown routes send over it. And routes in it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/mapping/link_load.hpp"
#include "viewer/layout/line_image.hpp"
#include "viewer/layout/matrix_order.hpp"
#include "viewer/layout/palette.hpp"

namespace pclscope::layout {

// What all pictures of a matrix are made of. Immutable.
struct MatrixContent {
  std::shared_ptr<const mapping::LinkGraph> links;
  std::shared_ptr<const mapping::LinkLoads> loads;  // of the shown routes
  std::shared_ptr<const MatrixOrder> order;
  int fold_level = -1;     // -1: nothing is folded
  std::vector<bool> used;  // of each place: a shown route goes through it
  double units = 0;        // of the axis
  bool operator==(const MatrixContent&) const = default;
};
// Of some routes (indices) with their loads.
MatrixContent matrix_content(std::shared_ptr<const mapping::LinkGraph> links,
                             std::shared_ptr<const mapping::LinkLoads> loads, const std::vector<mapping::Route>& routes,
                             const std::vector<std::uint32_t>& shown, std::shared_ptr<const MatrixOrder> order,
                             int fold_level);

// Which part of the matrix lies on an image of that size.
struct MatrixSight {
  double x = 0, y = 0;  // units; left and upper edge
  double scale = 1;     // pixels per unit
  int width = 1, height = 1;
  bool operator==(const MatrixSight&) const = default;
};

struct MatrixCell {
  std::int32_t column = 0;  // line
  double bytes = 0;         // of the shown routes, over all its links
  std::int32_t links = 0;   // so many
};
// The cells of a row that have links, by column; none of folded lines.
void matrix_row(const MatrixContent& content, const MatrixAxis& axis, std::int32_t row, std::vector<MatrixCell>& to);
// The largest bytes of all cells.
double most_bytes(const MatrixContent& content, const MatrixAxis& axis, const std::function<bool()>& stopping = {});

struct MatrixRequest {
  std::shared_ptr<const MatrixContent> content;
  MatrixSight sight;
  double least_pixels = 2;  // narrower, lines are merged
  const Palette* palette = nullptr;
  bool operator==(const MatrixRequest&) const = default;
};

struct MatrixImage {
  MatrixRequest of;
  std::size_t level = 0;  // of merging
  std::shared_ptr<const MatrixAxis> axis;
  Image image;
  std::size_t cells = 0;                                 // in sight, with links
  std::size_t loaded = 0;                                // of these, with bytes
  double most = 0;                                       // bytes of a cell, of the whole matrix: the end of the colours
  std::int32_t heaviest_row = -1, heaviest_column = -1;  // lines of the heaviest cell in sight; -1: none has bytes
};

// Remembers the axes that it used last. One thread at a time.
class MatrixPainter {
 public:
  // When `stopping`, there is no image.
  MatrixImage paint(const MatrixRequest& request, const std::function<bool()>& stopping);

 private:
  struct Kept {
    std::shared_ptr<const MatrixContent> content;
    std::size_t level = 0;
    std::shared_ptr<const MatrixAxis> axis;
    double most = 0;
  };
  std::vector<Kept> kept_;  // the newest last
};

// The colour of a cell: by the square root of its bytes, so that light ones can be told from none.
Rgba matrix_colour(const Palette& palette, double bytes, double most);

// A route in the matrix: from its source on the diagonal, for each link a horizontal segment to the link's cell and a
// vertical one to the next vertex on the diagonal. Links within one line are not seen.
struct MatrixLink {
  std::int32_t row = 0, column = 0;  // lines
  double bytes = 0;                  // the heaviest of the route's links in this cell
};
struct MatrixRoute {
  std::vector<std::pair<double, double>> points;  // units, x and y; the first is the source, the last the destination
  std::vector<MatrixLink> links;
};
MatrixRoute matrix_route(const MatrixOrder& order, const MatrixAxis& axis, const mapping::LinkGraph& links,
                         const mapping::LinkLoads& loads, const std::vector<std::int32_t>& path);

}  // namespace pclscope::layout
