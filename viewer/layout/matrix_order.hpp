// The rows and columns of the matrix of a network (Fujiwara et al. 4.4, 6.2): in which order its vertices stand, which
// of them are merged when there is no room for each, and which are folded. Rows and columns are alike.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/mapping/route_set.hpp"

namespace pclscope::layout {

enum class MatrixOrderBy : std::uint8_t { coordinates, number };

// Level 0: each vertex alone. Each next level merges blocks of the one before, the last has one block. By coordinates
// the last dimension is merged first, halves of it before the whole; by number, neighbours in pairs, fours, ...
struct MatrixOrder {
  std::vector<std::int32_t> vertex;               // at each place
  std::vector<std::int32_t> place;                // of each vertex
  std::vector<std::vector<std::int32_t>> blocks;  // of each level: the places where they begin, ascending from 0
  std::vector<std::string> names;                 // of each level: "1 vertex", "E", "D/2 E", "128 vertices"
  std::int32_t places() const { return static_cast<std::int32_t>(vertex.size()); }
};
MatrixOrder matrix_order(const mapping::RouteSet& set, MatrixOrderBy by);

// A row (and column) of the matrix: one block, or a run of folded ones. Its height in units: a unit for each place;
// folded runs take less, whatever they hold.
struct MatrixLine {
  std::int32_t first = 0, end = 0;  // places
  bool folded = false;
  double begin = 0, size = 0;  // units
};

struct MatrixAxis {
  std::vector<MatrixLine> lines;
  std::vector<std::int32_t> line_of_place;
  double units = 0;  // of all lines
  // -1: beyond the ends.
  std::int32_t line_at(double unit) const;
  double middle(std::int32_t line) const {
    const MatrixLine& l = lines[static_cast<std::size_t>(line)];
    return l.begin + l.size / 2;
  }
};

// Blocks of `level`; those of `fold_level` (-1: none) without a place in `used` are folded, and no more than these are
// merged: where a place lies does not depend on the level.
MatrixAxis matrix_axis(const MatrixOrder& order, std::size_t level, int fold_level, const std::vector<bool>& used);

// The lowest level whose blocks are on average at least `least` pixels wide at so many pixels per unit.
std::size_t level_for(const MatrixOrder& order, double pixels_per_unit, double least);

}  // namespace pclscope::layout
