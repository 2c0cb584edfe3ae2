// The tree in which reports go up to the root and orders down. Every inner node has up to `arity` children; a node
// whose parent died belongs to the nearest living ancestor. The root's death is the end of everything (node.hpp).
#pragma once

#include <vector>

namespace pclscope::nodes {

inline constexpr int arity = 8;

class Tree {
 public:
  Tree(int self, int nodes) : self_(self), dead_(static_cast<std::size_t>(nodes)) { find_children(); }

  int parent() const { return living_ancestor(self_); }  // -1 of the root
  const std::vector<int>& children() const { return children_; }
  bool is_dead(int node) const { return dead_[static_cast<std::size_t>(node)] != 0; }
  int nodes() const { return static_cast<int>(dead_.size()); }
  // Levels below the root: how many epochs it takes until a report of a leaf is at the root.
  int depth() const {
    int depth = 0;
    for (int node = nodes() - 1; node > 0; node = (node - 1) / arity) ++depth;
    return depth;
  }
  // True when the children of this node have changed.
  bool died(int node) {
    if (node < 0 || node >= nodes() || is_dead(node)) return false;
    dead_[static_cast<std::size_t>(node)] = 1;
    const std::vector<int> before = children_;
    find_children();
    return children_ != before;
  }

 private:
  int living_ancestor(int node) const {
    while (node > 0) {
      node = (node - 1) / arity;
      if (!is_dead(node)) return node;
    }
    return node == 0 ? -1 : node;
  }
  void find_children() {
    children_.clear();
    add_children_of(self_);
  }
  void add_children_of(int node) {
    for (int i = 1; i <= arity; ++i) {
      const long child = static_cast<long>(node) * arity + i;
      if (child >= nodes()) return;
      if (is_dead(static_cast<int>(child))) add_children_of(static_cast<int>(child));
      else children_.push_back(static_cast<int>(child));
    }
  }

  int self_;
  std::vector<char> dead_;
  std::vector<int> children_;
};

}  // namespace pclscope::nodes
