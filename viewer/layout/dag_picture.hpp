// All that the DAG view draws of a graph, computed in its worker: what is folded, where glyphs stand, how edges run.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analysis/order/fold.hpp"
#include "viewer/layout/cs_glyph.hpp"
#include "viewer/layout/dag_layout.hpp"
#include "viewer/layout/dag_routes.hpp"

namespace pclscope::layout {

// What does not change when nodes are folded.
struct DagBasis {
  std::shared_ptr<const Dag> dag;
  std::vector<std::int32_t> layer;
  std::vector<double> order;  // row_order
  GlyphScale scale;
};
std::shared_ptr<const DagBasis> dag_basis(std::shared_ptr<const Dag> dag);

// So that at most about `budget` glyphs are left (never fewer than the first layer's): of the last layer that fits,
// every node becomes one with all that depends on it. Empty when the whole graph fits. Ascending.
std::vector<std::int32_t> automatic_folds(std::span<const std::int32_t> layer, std::size_t budget);

struct DagPictureRequest {
  std::shared_ptr<const Dag> dag;         // never null
  std::shared_ptr<const DagBasis> basis;  // of an earlier picture, used when it is of the same dag; may be null
  std::vector<std::int32_t> folds;        // by the user: nodes of `dag`, each with what hangs right of it
  std::size_t budget = 0;                 // of automatic_folds
  float aspect = 1.6f;
  std::int32_t layers_in_sight = 0;  // that fill the area; 0: all
};

struct DagPicture {
  std::shared_ptr<const DagBasis> basis;
  std::vector<std::int32_t> folds;  // as asked for
  std::size_t budget = 0;
  Dag dag;                                            // what is left after folding
  std::vector<std::vector<std::int32_t>> stands_for;  // by node of `dag`: nodes of the whole, ascending
  std::vector<std::int32_t> place;                    // by node of the whole: its node here
  DagLayout layout;
  std::vector<DagRoute> routes;
  std::vector<CsGlyph> glyphs;                          // by node of `dag`
  std::vector<std::int32_t> rank_row;                   // by node of `dag`: index in Dag::ranks; -1: none
  bool one_node = false;                                // all ranks are on one compute node
  std::vector<std::vector<std::int32_t>> into, out_of;  // by node of `dag`: indices of routes

  const Dag& whole() const { return *basis->dag; }
  bool is_fold(std::size_t node) const { return stands_for[node].size() > 1; }
};
DagPicture make_dag_picture(const DagPictureRequest& request);

// What the ellipse's colour says: mean L of what ranks of its compute node received; where all are on one node that
// would be one colour, so of what the glyph itself received. 0: nothing to say.
double ellipse_ratio(const DagPicture& picture, std::size_t node);
// LB of a rank, 0 where its number of messages is not significantly apart from the mean of all: by less than a message,
// or 5 % of the mean. In a balanced run LB is a quotient of two numbers that are next to nothing.
double significant_balance(const Dag& dag, const DagRank& rank);

// Routes that lead into a node from afar (`backwards`), or from it: all but its own links. At most `most`, nearest
// first.
std::vector<std::int32_t> routes_beyond(const DagPicture& picture, std::int32_t node, bool backwards, std::size_t most);

}  // namespace pclscope::layout
