// Messages between nodes, for people and programs, and the node whose links are slow.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/values/snapshot.hpp"
#include "viewer/views/summary_tables.hpp"

namespace pclscope::views {

// Fit to print; "node 3" or "a node" when there is no name.
std::string node_name(const Snapshot& snapshot, std::int32_t node);

Rows node_link_rows(const Snapshot& snapshot);
// The slowest transfers first.
std::vector<std::string> node_link_lines(const Snapshot& snapshot, std::size_t width);

// A node whose messages to (or from) all other nodes take much longer than those between others.
struct SlowNode {
  std::int32_t node = 0;
  bool sends = true;  // messages from it; else to it
  double ratio = 0;   // of their transfers to what is usual between nodes
  double others = 0;  // of those that have nothing to do with the node: the (lower) median
  double at_s = 0;    // begin of its worst interval
};
inline constexpr double slow_ratio = 3;  // at least, and three times the others'
// Live by the newest seconds, of a finished run by the worst intervals. Needs three nodes with messages.
std::optional<SlowNode> slow_node(const Snapshot& snapshot);
// One line, empty without such a node.
std::string slow_node_line(const Snapshot& snapshot);

}  // namespace pclscope::views
