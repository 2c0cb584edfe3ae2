#include "viewer/layout/dag_layout.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace pclscope::layout {
namespace {

constexpr int order_sweeps = 12, place_sweeps = 10;
constexpr float widest_column = 14, highest_row = 10;  // when there is room
constexpr float tall_share = 0.35f;                    // a column's most by the height of tall graphs
constexpr float glyph_reach = 1.5f;
using Index = std::int32_t;
using Rows = std::vector<std::vector<Index>>;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct Near {
  Index node;
  double weight;
};
using Nears = std::vector<std::vector<Near>>;

constexpr double same_rank = 1.5;  // by a link's: where both are as short, rows of ranks win

// Whom a node should stand near: the other ends of its edges, and the former and next node of its rank.
struct Neighbours {
  Nears left, right;

  Neighbours(const Dag& dag, std::span<const Index> layer) : left(dag.nodes.size()), right(dag.nodes.size()) {
    for (const DagEdge& e : dag.edges)
      if (can_be(e, dag.nodes.size())) link(e.from, e.to, 1);
    std::vector<Index> by_rank(dag.nodes.size());
    std::iota(by_rank.begin(), by_rank.end(), 0);
    std::stable_sort(by_rank.begin(), by_rank.end(), [&](Index a, Index b) {
      return std::pair(dag.nodes[at(a)].rank, layer[at(a)]) < std::pair(dag.nodes[at(b)].rank, layer[at(b)]);
    });
    for (std::size_t i = 1; i < by_rank.size(); ++i) {
      const Index a = by_rank[i - 1], b = by_rank[i];
      if (dag.nodes[at(a)].rank == dag.nodes[at(b)].rank && layer[at(a)] < layer[at(b)]) link(a, b, same_rank);
    }
  }
  void link(Index a, Index b, double weight) {
    right[at(a)].push_back({b, weight});
    left[at(b)].push_back({a, weight});
  }
};

Rows rows_by_rank(const Dag& dag, std::span<const Index> layer) {
  Rows rows;
  for (std::size_t i = 0; i < dag.nodes.size(); ++i) {
    if (at(layer[i]) >= rows.size()) rows.resize(at(layer[i]) + 1);
    rows[at(layer[i])].push_back(static_cast<Index>(i));
  }
  for (auto& row : rows)
    std::stable_sort(row.begin(), row.end(),
                     [&](Index a, Index b) { return dag.nodes[at(a)].rank < dag.nodes[at(b)].rank; });
  return rows;
}

void number_row(const std::vector<Index>& row, std::vector<double>& slot) {
  const double middle = static_cast<double>(row.size() - 1) / 2;
  for (std::size_t i = 0; i < row.size(); ++i) slot[at(row[i])] = static_cast<double>(i) - middle;
}

double mean_of(const std::vector<Near>& others, const std::vector<double>& of, double without) {
  double sum = 0, weights = 0;
  for (const Near& other : others) sum += other.weight * of[at(other.node)], weights += other.weight;
  return weights > 0 ? sum / weights : without;
}

double length_of_edges(const Neighbours& neighbours, const std::vector<double>& slot) {
  double sum = 0;
  for (std::size_t i = 0; i < slot.size(); ++i)
    for (const Near& other : neighbours.right[i]) sum += other.weight * std::abs(slot[i] - slot[at(other.node)]);
  return sum;
}

void sort_row(std::vector<Index>& row, const Nears& neighbours, std::vector<double>& slot, std::vector<double>& wish) {
  for (const Index i : row) wish[at(i)] = mean_of(neighbours[at(i)], slot, slot[at(i)]);
  std::stable_sort(row.begin(), row.end(), [&](Index a, Index b) { return wish[at(a)] < wish[at(b)]; });
  number_row(row, slot);
}

// Heights as near as possible (least squares) to `wish` with at least `apart` between neighbours: pool adjacent
// violators.
void spread(const std::vector<Index>& row, const std::vector<double>& wish, double apart, std::vector<double>& height) {
  struct Block {
    double sum = 0;
    std::size_t count = 0;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < row.size(); ++i) {
    blocks.push_back({wish[at(row[i])] - static_cast<double>(i) * apart, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      Block& into = blocks[blocks.size() - 2];
      into = {into.sum + blocks.back().sum, into.count + blocks.back().count};
      blocks.pop_back();
    }
  }
  std::size_t i = 0;
  for (const Block& block : blocks)
    for (std::size_t k = 0; k < block.count; ++k, ++i)
      height[at(row[i])] = block.mean() + static_cast<double>(i) * apart;
}

std::vector<double> place_rows(const Rows& rows, const Neighbours& neighbours, std::size_t nodes) {
  std::vector<double> height(nodes), wish(nodes);
  for (const auto& row : rows) number_row(row, height);
  for (int sweep = 0; sweep < place_sweeps; ++sweep) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const auto& row = rows[sweep % 2 == 0 ? k : rows.size() - 1 - k];
      for (const Index i : row) {
        const double left = mean_of(neighbours.left[at(i)], height, height[at(i)]);
        wish[at(i)] = (left + mean_of(neighbours.right[at(i)], height, left)) / 2;
      }
      spread(row, wish, 1, height);
    }
  }
  return height;
}

}  // namespace

bool can_be(const DagEdge& edge, std::size_t nodes) {
  return edge.from >= 0 && edge.from < edge.to && at(edge.to) < nodes;
}

std::vector<Index> layers_of(const Dag& dag) {
  std::vector<Index> layer(dag.nodes.size());
  std::vector<Index> by_from;
  for (std::size_t i = 0; i < dag.edges.size(); ++i)
    if (can_be(dag.edges[i], dag.nodes.size())) by_from.push_back(static_cast<Index>(i));
  std::stable_sort(by_from.begin(), by_from.end(),
                   [&](Index a, Index b) { return dag.edges[at(a)].from < dag.edges[at(b)].from; });
  for (const Index i : by_from) {  // ascending `from`: its layer is final
    const DagEdge& e = dag.edges[at(i)];
    layer[at(e.to)] = std::max(layer[at(e.to)], layer[at(e.from)] + 1);
  }
  return layer;
}

std::vector<double> row_order(const Dag& dag, std::span<const Index> layer) {
  const Neighbours neighbours(dag, layer);
  Rows rows = rows_by_rank(dag, layer);
  std::vector<double> slot(dag.nodes.size()), wish(dag.nodes.size());
  for (const auto& row : rows) number_row(row, slot);
  std::vector<double> best = slot;
  double shortest = length_of_edges(neighbours, slot);
  for (int sweep = 0; sweep < order_sweeps; ++sweep) {
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const bool forth = sweep % 2 == 0;
      sort_row(rows[forth ? k : rows.size() - 1 - k], forth ? neighbours.left : neighbours.right, slot, wish);
    }
    const double now = length_of_edges(neighbours, slot);
    if (now >= shortest) continue;
    shortest = now;
    best = slot;
  }
  return best;
}

DagLayout lay_out_dag(const Dag& dag, std::span<const double> order, float aspect, std::int32_t layers_in_sight) {
  DagLayout made;
  if (dag.nodes.empty() || order.size() != dag.nodes.size()) return made;
  made.layer = layers_of(dag);
  made.rows = rows_by_rank(dag, made.layer);
  for (auto& row : made.rows)
    std::stable_sort(row.begin(), row.end(), [&](Index a, Index b) { return order[at(a)] < order[at(b)]; });
  const std::vector<double> height = place_rows(made.rows, Neighbours(dag, made.layer), dag.nodes.size());
  const auto [low, high] = std::minmax_element(height.begin(), height.end());
  const float tall = static_cast<float>(*high - *low) + 1, all = static_cast<float>(made.rows.size());
  const float wide = layers_in_sight > 0 ? std::min(all, static_cast<float>(layers_in_sight)) : all;
  const float wanted = std::isfinite(aspect) && aspect > 0 ? std::clamp(aspect, 0.2f, 5.f) : 1.6f;
  made.column = std::clamp(wanted * tall * least_row / wide, least_column,
                           std::max(widest_column, tall_share * tall * least_row));
  const float row = std::clamp(made.column * wide / wanted / tall, least_row, highest_row);
  for (std::size_t i = 0; i < dag.nodes.size(); ++i)
    made.at.push_back({static_cast<float>(made.layer[i]) * made.column, static_cast<float>(height[i] - *low) * row});
  made.bounds = {{-glyph_reach, -glyph_reach}, {(all - 1) * made.column + glyph_reach, (tall - 1) * row + glyph_reach}};
  return made;
}

}  // namespace pclscope::layout
