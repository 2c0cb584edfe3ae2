// The clustered timeline of a phase (after Ravel): rows of ranks that are alike, a glyph for each step with the shares
// that send and receive, the tree that rows come from, and the ranks around the latest event.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/session/logical_run.hpp"

namespace pclscope::layout {

// What a group of ranks does in a step. Shares are of its members, from 0 to 1; their sum is at most 1, since a rank
// has one event in a step.
struct ClusterGlyph {
  enum What : std::size_t { sends, receives, collectives };
  std::uint32_t step = 0;
  std::array<float, 3> share{};    // by What
  std::array<float, 3> mean_ns{};  // of the metric, of those who do it
  float completed = 0;             // messages received, mean of those who receive
  bool operator==(const ClusterGlyph&) const = default;
};

struct ClusterTree {
  std::uint32_t clusters = 0;  // leaves 0 .. clusters - 1; node clusters + i is the i-th merge
  struct Node {
    std::int32_t left = -1, right = -1;  // the one with the least rank first; -1: a leaf
    double distance_s = 0;               // of the two, root of the clusters' squared distance
    std::vector<std::int32_t> ranks;     // ascending
    std::int32_t medoid = -1;            // of a leaf; of a merge the one of its largest leaf
  };
  std::vector<Node> nodes;
  std::uint32_t root() const { return nodes.empty() ? 0 : static_cast<std::uint32_t>(nodes.size()) - 1; }
};

// Clusters of a phase, whose rows may be opened and closed.
struct PhaseClusters {
  std::shared_ptr<const session::LogicalPhase> phase;
  logical::Metric metric = logical::Metric::lateness;
  logical::Pattern pattern = logical::Pattern::none;
  ClusterTree tree;
  std::uint32_t most_completed = 0;  // messages that one receive completes
  float largest_ns = 0;              // the metric of one event
  bool too_large = false;            // nobody waits that long for clusters
};
PhaseClusters cluster_phase(std::shared_ptr<const session::LogicalPhase> phase, logical::Metric metric,
                            std::int32_t ranks);

// The nodes that are open at first: so many rows, or as many clusters as there are.
std::vector<std::uint32_t> open_at_first(const ClusterTree& tree, std::size_t rows = 6);

struct ClusterRow {
  std::uint32_t node = 0;
  std::vector<ClusterGlyph> glyphs;  // by step; steps without events of members have none
  // Of an alternating exchange, those that send first and those that receive first, as shares of the row's members.
  std::array<std::vector<ClusterGlyph>, 2> lanes;
};
struct ClusterPicture {
  std::shared_ptr<const PhaseClusters> of;
  std::vector<ClusterRow> rows;  // downwards, by least rank
  float most_ns = 0;             // of the glyphs' means
  // Steps in which ranks of the phase that send first (receive first) have events.
  std::array<std::vector<std::uint32_t>, 2> lane_steps;
  std::vector<std::int32_t> focus;  // ascending
  std::int32_t focus_rank = -1;     // around whom
};
// `open`: nodes whose children are shown, ascending. Around `focus`, or the rank of the largest value; at most
// `most_focus` ranks within `hops` messages.
ClusterPicture cluster_rows(const std::shared_ptr<const PhaseClusters>& clusters,
                            const std::vector<std::uint32_t>& open, std::optional<std::int32_t> focus,
                            std::uint32_t hops = 1, std::size_t most_focus = 9);

}  // namespace pclscope::layout
