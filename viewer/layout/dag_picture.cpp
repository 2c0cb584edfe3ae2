#include "viewer/layout/dag_picture.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace pclscope::layout {
namespace {

void fill_folded(DagPicture& picture, const DagPictureRequest& request) {
  const Dag& whole = picture.whole();
  Folds folds;
  folds.nodes = automatic_folds(picture.basis->layer, request.budget);
  folds.nodes.insert(folds.nodes.end(), request.folds.begin(), request.folds.end());
  if (folds.nodes.empty()) {
    picture.dag = whole;
    for (std::size_t i = 0; i < whole.nodes.size(); ++i) picture.stands_for.push_back({static_cast<std::int32_t>(i)});
  } else {
    FoldedDag folded = fold(whole, folds);
    picture.dag = std::move(folded.dag);
    picture.stands_for = std::move(folded.stands_for);
  }
  picture.place.assign(whole.nodes.size(), -1);
  for (std::size_t i = 0; i < picture.stands_for.size(); ++i)
    for (const std::int32_t node : picture.stands_for[i])
      picture.place[static_cast<std::size_t>(node)] = static_cast<std::int32_t>(i);
}

double mean_messages(const Dag& dag) {
  double sum = 0;
  for (const DagRank& rank : dag.ranks) sum += static_cast<double>(rank.messages);
  return dag.ranks.empty() ? 0 : sum / static_cast<double>(dag.ranks.size());
}

bool significant(const DagRank& rank, double mean) {
  constexpr double share = 0.05;
  return std::fabs(static_cast<double>(rank.messages) - mean) >= std::max(1.0, share * mean);
}

void fill_glyphs(DagPicture& picture) {
  std::unordered_map<std::int32_t, std::int32_t> row;
  for (std::size_t i = 0; i < picture.dag.ranks.size(); ++i)
    row.try_emplace(picture.dag.ranks[i].rank, static_cast<std::int32_t>(i));
  std::vector<double> balances;
  const double mean = mean_messages(picture.dag);
  picture.one_node = true;
  for (const DagRank& rank : picture.dag.ranks) {
    balances.push_back(significant(rank, mean) ? rank.load_balance : 0);
    picture.one_node = picture.one_node && rank.compute_node == picture.dag.ranks.front().compute_node;
  }
  for (const DagNode& node : picture.dag.nodes) {
    const auto found = row.find(node.rank);
    picture.rank_row.push_back(found == row.end() ? -1 : found->second);
    const double balance = found == row.end() ? 0 : balances[static_cast<std::size_t>(found->second)];
    picture.glyphs.push_back(cs_glyph(node, balance, picture.basis->scale));
  }
}

void fill_links(DagPicture& picture) {
  picture.into.resize(picture.dag.nodes.size());
  picture.out_of.resize(picture.dag.nodes.size());
  for (std::size_t i = 0; i < picture.routes.size(); ++i) {
    const DagEdge& edge = picture.dag.edges[static_cast<std::size_t>(picture.routes[i].edge)];
    picture.out_of[static_cast<std::size_t>(edge.from)].push_back(static_cast<std::int32_t>(i));
    picture.into[static_cast<std::size_t>(edge.to)].push_back(static_cast<std::int32_t>(i));
  }
}

}  // namespace

double significant_balance(const Dag& dag, const DagRank& rank) {
  return significant(rank, mean_messages(dag)) ? rank.load_balance : 0;
}

double ellipse_ratio(const DagPicture& picture, std::size_t node) {
  const std::int32_t row = picture.rank_row[node];
  if (!picture.one_node) return row < 0 ? 0 : picture.dag.ranks[static_cast<std::size_t>(row)].node_ratio;
  double sum = 0;
  std::size_t count = 0;
  for (const DagMessage& m : picture.dag.nodes[node].received) {
    if (!std::isfinite(m.ratio) || !(m.ratio > 0)) continue;
    sum += m.ratio;
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

std::shared_ptr<const DagBasis> dag_basis(std::shared_ptr<const Dag> dag) {
  auto basis = std::make_shared<DagBasis>();
  basis->layer = layers_of(*dag);
  basis->order = row_order(*dag, basis->layer);
  basis->scale = glyph_scale(*dag);
  basis->dag = std::move(dag);
  return basis;
}

std::vector<std::int32_t> automatic_folds(std::span<const std::int32_t> layer, std::size_t budget) {
  if (layer.size() <= budget) return {};
  std::vector<std::size_t> in_layer(static_cast<std::size_t>(*std::max_element(layer.begin(), layer.end())) + 1);
  for (const std::int32_t l : layer) ++in_layer[static_cast<std::size_t>(l)];
  std::size_t last = 0, count = in_layer[0];
  while (last + 1 < in_layer.size() && count + in_layer[last + 1] <= budget) count += in_layer[++last];
  std::vector<std::int32_t> heads;
  for (std::size_t i = 0; i < layer.size(); ++i)
    if (layer[i] == static_cast<std::int32_t>(last)) heads.push_back(static_cast<std::int32_t>(i));
  return heads;
}

DagPicture make_dag_picture(const DagPictureRequest& request) {
  DagPicture picture;
  picture.basis = request.basis && request.basis->dag == request.dag ? request.basis : dag_basis(request.dag);
  picture.folds = request.folds;
  picture.budget = request.budget;
  fill_folded(picture, request);
  std::vector<double> order;
  for (const auto& group : picture.stands_for)
    order.push_back(picture.basis->order[static_cast<std::size_t>(group.front())]);
  picture.layout = lay_out_dag(picture.dag, order, request.aspect, request.layers_in_sight);
  picture.routes = route_edges(picture.dag, picture.layout);
  fill_glyphs(picture);
  fill_links(picture);
  return picture;
}

std::vector<std::int32_t> routes_beyond(const DagPicture& picture, std::int32_t node, bool backwards,
                                        std::size_t most) {
  const auto& links = backwards ? picture.into : picture.out_of;
  const auto other_end = [&](std::int32_t route) {
    const DagEdge& edge =
        picture.dag.edges[static_cast<std::size_t>(picture.routes[static_cast<std::size_t>(route)].edge)];
    return static_cast<std::size_t>(backwards ? edge.from : edge.to);
  };
  std::vector<bool> seen(picture.dag.nodes.size());
  std::vector<std::size_t> queue = {static_cast<std::size_t>(node)};
  std::vector<std::int32_t> found;
  seen[queue.front()] = true;
  for (std::size_t i = 0; i < queue.size() && found.size() < most; ++i) {
    for (const std::int32_t route : links[queue[i]]) {
      if (i > 0 && found.size() < most) found.push_back(route);
      const std::size_t next = other_end(route);
      if (!seen[next]) queue.push_back(next);
      seen[next] = true;
    }
  }
  return found;
}

}  // namespace pclscope::layout
