#include "viewer/layout/cluster_picture.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace pclscope::layout {
namespace {

using session::LogicalBox;
using session::LogicalPhase;

constexpr std::size_t most_boxes = 12'000'000;  // of a phase that is clustered

ClusterTree tree_of(const logical::Clusters& clusters) {
  ClusterTree tree;
  tree.clusters = static_cast<std::uint32_t>(clusters.medoids.size());
  tree.nodes.resize(tree.clusters);
  for (std::size_t r = 0; r < clusters.ranks.size(); ++r)
    tree.nodes[clusters.cluster_of[r]].ranks.push_back(clusters.ranks[r]);
  for (std::size_t c = 0; c < tree.clusters; ++c) tree.nodes[c].medoid = clusters.medoids[c];
  std::vector<std::size_t> largest_leaf;  // of each node
  for (const ClusterTree::Node& leaf : tree.nodes) largest_leaf.push_back(leaf.ranks.size());
  for (const logical::Clusters::Merge& merge : clusters.merges) {
    std::uint32_t a = merge.a, b = merge.b;
    if (tree.nodes[b].ranks < tree.nodes[a].ranks) std::swap(a, b);
    ClusterTree::Node node;
    node.left = static_cast<std::int32_t>(a);
    node.right = static_cast<std::int32_t>(b);
    node.distance_s = std::sqrt(std::max(0.0, merge.distance));
    std::merge(tree.nodes[a].ranks.begin(), tree.nodes[a].ranks.end(), tree.nodes[b].ranks.begin(),
               tree.nodes[b].ranks.end(), std::back_inserter(node.ranks));
    node.medoid = tree.nodes[largest_leaf[a] >= largest_leaf[b] ? a : b].medoid;
    largest_leaf.push_back(std::max(largest_leaf[a], largest_leaf[b]));
    tree.nodes.push_back(std::move(node));
  }
  return tree;
}

ClusterGlyph::What what_of(const LogicalBox& box) {
  return box.kind == logical::Kind::send      ? ClusterGlyph::sends
         : box.kind == logical::Kind::receive ? ClusterGlyph::receives
                                              : ClusterGlyph::collectives;
}

// Sums over members become shares and means.
class Glyphs {
 public:
  explicit Glyphs(const LogicalPhase& phase) : phase_(phase), sums_(phase.steps) {}
  void add(const LogicalBox& box, logical::Metric metric) {
    Sum& sum = sums_[box.step - phase_.first_step];
    const auto what = what_of(box);
    ++sum.count[what];
    sum.value[what] += static_cast<double>(phase_.value(box, metric));
    if (what == ClusterGlyph::receives) sum.completed += phase_.partners_of(box).size();
  }
  std::vector<ClusterGlyph> take(std::size_t members) const {
    std::vector<ClusterGlyph> glyphs;
    for (std::uint32_t s = 0; s < sums_.size(); ++s) {
      const Sum& sum = sums_[s];
      if (sum.count[0] + sum.count[1] + sum.count[2] == 0) continue;
      ClusterGlyph glyph;
      glyph.step = phase_.first_step + s;
      for (std::size_t w = 0; w < 3; ++w) {
        if (sum.count[w] == 0) continue;
        glyph.share[w] = static_cast<float>(static_cast<double>(sum.count[w]) / static_cast<double>(members));
        glyph.mean_ns[w] = static_cast<float>(sum.value[w] / static_cast<double>(sum.count[w]));
      }
      if (sum.count[ClusterGlyph::receives] > 0)
        glyph.completed = static_cast<float>(static_cast<double>(sum.completed) /
                                             static_cast<double>(sum.count[ClusterGlyph::receives]));
      glyphs.push_back(glyph);
    }
    return glyphs;
  }

 private:
  struct Sum {
    std::array<std::size_t, 3> count{};
    std::array<double, 3> value{};
    std::size_t completed = 0;
  };
  const LogicalPhase& phase_;
  std::vector<Sum> sums_;
};

// 0: its first message is sent, 1: received.
std::size_t lane_of(const LogicalPhase& phase, const logical::Part& part) {
  for (std::uint32_t i = part.first; i < part.end; ++i) {
    if (phase.boxes[i].kind == logical::Kind::send) return 0;
    if (phase.boxes[i].kind == logical::Kind::receive) return 1;
  }
  return 0;
}

ClusterRow row_of(const PhaseClusters& clusters, std::uint32_t node) {
  const LogicalPhase& phase = *clusters.phase;
  const std::vector<std::int32_t>& ranks = clusters.tree.nodes[node].ranks;
  const bool alternating = clusters.pattern == logical::Pattern::alternating;
  Glyphs all(phase);
  std::vector<Glyphs> lanes(alternating ? 2 : 0, Glyphs(phase));
  for (const std::int32_t rank : ranks) {
    const logical::Part* part = phase.part_of(rank);
    if (part == nullptr) continue;
    const std::size_t lane = alternating ? lane_of(phase, *part) : 0;
    for (std::uint32_t i = part->first; i < part->end; ++i) {
      all.add(phase.boxes[i], clusters.metric);
      if (alternating) lanes[lane].add(phase.boxes[i], clusters.metric);
    }
  }
  ClusterRow row;
  row.node = node;
  row.glyphs = all.take(ranks.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) row.lanes[lane] = lanes[lane].take(ranks.size());
  return row;
}

std::int32_t rank_of_largest(const PhaseClusters& clusters) {
  const LogicalPhase& phase = *clusters.phase;
  std::int32_t rank = phase.parts.empty() ? -1 : phase.parts.front().rank;
  float most = -1;
  for (const logical::Part& part : phase.parts)
    for (std::uint32_t i = part.first; i < part.end; ++i)
      if (const float value = phase.value(phase.boxes[i], clusters.metric); value > most)
        most = value, rank = part.rank;
  return rank;
}

// Ranks that exchange messages with one of the list, those with most messages first, until there are enough.
std::vector<std::int32_t> neighbourhood(const LogicalPhase& phase, std::int32_t around, std::uint32_t hops,
                                        std::size_t most) {
  std::vector<std::int32_t> list = {around}, edge = list;
  for (std::uint32_t hop = 0; hop < hops && list.size() < most; ++hop) {
    std::map<std::int32_t, std::size_t> messages;
    for (const std::int32_t rank : edge) {
      const logical::Part* part = phase.part_of(rank);
      if (part == nullptr) continue;
      for (std::uint32_t i = part->first; i < part->end; ++i)
        for (const std::uint32_t other : phase.partners_of(phase.boxes[i])) ++messages[phase.rank_of(other)];
    }
    std::vector<std::pair<std::size_t, std::int32_t>> next;
    for (const auto& [rank, count] : messages)
      if (std::find(list.begin(), list.end(), rank) == list.end()) next.emplace_back(count, rank);
    std::stable_sort(next.begin(), next.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    edge.clear();
    for (const auto& [count, rank] : next) {
      if (list.size() >= most) break;
      list.push_back(rank);
      edge.push_back(rank);
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

PhaseClusters cluster_phase(std::shared_ptr<const LogicalPhase> phase, logical::Metric metric, std::int32_t ranks) {
  PhaseClusters made;
  made.phase = std::move(phase);
  made.metric = metric;
  if (made.phase->boxes.size() > most_boxes) {
    made.too_large = true;
    return made;
  }
  const logical::LogicalTime time = session::time_of(*made.phase, ranks);
  logical::ClusterOptions options;
  options.metric = metric;
  options.clusters =
      std::clamp<std::uint32_t>(static_cast<std::uint32_t>(made.phase->parts.size()) / 3, 1, options.clusters);
  made.tree = tree_of(logical::clusters_of(time, time.phases[0], options));
  made.pattern = logical::pattern_of(time, time.phases[0]);
  for (const LogicalBox& box : made.phase->boxes) {
    made.largest_ns = std::max(made.largest_ns, made.phase->value(box, metric));
    if (box.kind == logical::Kind::receive)
      made.most_completed =
          std::max(made.most_completed, static_cast<std::uint32_t>(made.phase->partners_of(box).size()));
  }
  return made;
}

std::vector<std::uint32_t> open_at_first(const ClusterTree& tree, std::size_t rows) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t node = static_cast<std::uint32_t>(tree.nodes.size());
       node-- > tree.clusters && open.size() + 1 < rows;)
    open.push_back(node);
  std::reverse(open.begin(), open.end());
  return open;
}

ClusterPicture cluster_rows(const std::shared_ptr<const PhaseClusters>& clusters,
                            const std::vector<std::uint32_t>& open, std::optional<std::int32_t> focus,
                            std::uint32_t hops, std::size_t most_focus) {
  ClusterPicture picture;
  picture.of = clusters;
  const LogicalPhase& phase = *clusters->phase;
  if (clusters->tree.nodes.empty()) return picture;
  const std::function<void(std::uint32_t)> add = [&](std::uint32_t node) {
    const ClusterTree::Node& n = clusters->tree.nodes[node];
    if (n.left < 0 || !std::binary_search(open.begin(), open.end(), node)) {
      picture.rows.push_back(row_of(*clusters, node));
      return;
    }
    add(static_cast<std::uint32_t>(n.left));
    add(static_cast<std::uint32_t>(n.right));
  };
  add(clusters->tree.root());
  for (const ClusterRow& row : picture.rows)
    for (const ClusterGlyph& glyph : row.glyphs)
      for (const float mean : glyph.mean_ns) picture.most_ns = std::max(picture.most_ns, mean);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    std::vector<std::uint32_t>& steps = picture.lane_steps[lane];
    for (const ClusterRow& row : picture.rows)
      for (const ClusterGlyph& glyph : row.lanes[lane]) steps.push_back(glyph.step);
    std::sort(steps.begin(), steps.end());
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  }
  picture.focus_rank = focus && phase.part_of(*focus) != nullptr ? *focus : rank_of_largest(*clusters);
  picture.focus = neighbourhood(phase, picture.focus_rank, hops, std::max<std::size_t>(most_focus, 1));
  return picture;
}

}  // namespace pclscope::layout
