// The quadtree of Barnes and Hut: what all bodies do to one, in O(log n). For force_layout.cpp and
// network_forces.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/layout/force_layout.hpp"

namespace pclscope::layout {

class ForceTree {
 public:
  // `masses` are the bodies' weights as pushers. Positions must be finite.
  ForceTree(std::span<const Body> bodies, std::span<const float> masses);
  // Sum over all other bodies j of mass_j * (p - p_j) / |p - p_j|^2: the push falls with 1 / distance.
  Point push(std::uint32_t body, float theta) const;

 private:
  struct Cell {
    std::array<std::int32_t, 4> child{-1, -1, -1, -1};
    std::int32_t only = -1;  // the body of a leaf that holds one; -1: none or several
    float side = 0;
    float mass = 0;
    double sum_x = 0, sum_y = 0;  // of mass * position
    Point low;
    Point middle;  // of its mass
    bool leaf = true;
  };
  void insert(std::uint32_t body);
  std::int32_t child_for(std::int32_t cell, Point at);
  std::span<const Body> bodies_;
  std::span<const float> masses_;
  std::vector<Cell> cells_;
};

}  // namespace pclscope::layout
