#include "viewer/layout/force_layout_tree.hpp"

namespace pclscope::layout {
namespace {

constexpr int deepest = 24;       // bodies nearer than the square's side / 2^24 count as one
constexpr float nearest = 1e-3f;  // of two bodies upon each other: the push stays finite

}  // namespace

ForceTree::ForceTree(std::span<const Body> bodies, std::span<const float> masses) : bodies_(bodies), masses_(masses) {
  if (bodies.empty()) return;
  Rect all{bodies[0].at, bodies[0].at};
  for (const Body& body : bodies) {
    all.low = {std::min(all.low.x, body.at.x), std::min(all.low.y, body.at.y)};
    all.high = {std::max(all.high.x, body.at.x), std::max(all.high.y, body.at.y)};
  }
  Cell root;
  root.low = all.low;
  root.side = std::max({all.width(), all.height(), 1e-3f}) * 1.0001f;
  cells_.reserve(bodies.size() * 2);
  cells_.push_back(root);
  for (std::uint32_t i = 0; i < bodies.size(); ++i) insert(i);
  for (Cell& cell : cells_) {
    if (cell.mass > 0)
      cell.middle = {static_cast<float>(cell.sum_x / cell.mass), static_cast<float>(cell.sum_y / cell.mass)};
  }
}

std::int32_t ForceTree::child_for(std::int32_t cell, Point at) {
  const auto c = static_cast<std::size_t>(cell);
  const float half = cells_[c].side / 2;
  const Point low = cells_[c].low;
  const bool right = at.x >= low.x + half, below = at.y >= low.y + half;
  const auto quarter = static_cast<std::size_t>((right ? 1 : 0) + (below ? 2 : 0));
  if (cells_[c].child[quarter] < 0) {
    Cell made;
    made.low = {low.x + (right ? half : 0), low.y + (below ? half : 0)};
    made.side = half;
    cells_[c].child[quarter] = static_cast<std::int32_t>(cells_.size());
    cells_.push_back(made);
  }
  return cells_[c].child[quarter];
}

void ForceTree::insert(std::uint32_t body) {
  const auto add = [this](Cell& cell, std::uint32_t i) {
    cell.mass += masses_[i];
    cell.sum_x += static_cast<double>(masses_[i]) * static_cast<double>(bodies_[i].at.x);
    cell.sum_y += static_cast<double>(masses_[i]) * static_cast<double>(bodies_[i].at.y);
  };
  std::int32_t at = 0;
  for (int depth = 0;; ++depth) {
    const auto c = static_cast<std::size_t>(at);
    const bool empty = cells_[c].leaf && cells_[c].mass == 0;
    add(cells_[c], body);
    if (empty) {
      cells_[c].only = static_cast<std::int32_t>(body);
      return;
    }
    if (depth == deepest) {
      cells_[c].only = -1;
      return;
    }
    if (cells_[c].leaf) {  // split: who was here goes one down
      const auto before = static_cast<std::uint32_t>(cells_[c].only);
      cells_[c].leaf = false;
      cells_[c].only = -1;
      const std::int32_t down = child_for(at, bodies_[before].at);
      cells_[static_cast<std::size_t>(down)].only = static_cast<std::int32_t>(before);
      add(cells_[static_cast<std::size_t>(down)], before);
    }
    at = child_for(at, bodies_[body].at);
  }
}

Point ForceTree::push(std::uint32_t body, float theta) const {
  Point sum;
  if (cells_.empty()) return sum;
  const Point here = bodies_[body].at;
  std::array<std::int32_t, 4 * (deepest + 2)> stack{};
  std::size_t depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const Cell& cell = cells_[static_cast<std::size_t>(stack[--depth])];
    if (cell.only == static_cast<std::int32_t>(body)) continue;
    Point away = here - cell.middle;
    float square = away.x * away.x + away.y * away.y;
    if (!cell.leaf && cell.side * cell.side > theta * theta * square) {
      for (const std::int32_t child : cell.child) {
        if (child >= 0) stack[depth++] = child;
      }
      continue;
    }
    if (square < nearest * nearest) {  // upon each other: a direction of its own for each body
      away = spiral_place(body, nearest) * (1 / (1 + std::sqrt(static_cast<float>(body))));
      square = nearest * nearest;
    }
    sum = sum + away * (cell.mass / square);
  }
  return sum;
}

}  // namespace pclscope::layout
