// Distances and dimension-order routes on tori, meshes, and networks whose dimensions are fully linked. Row-major
// numbers, the last coordinate fastest.
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope::mapping {

enum class Wiring : std::uint8_t { ring, line, all };  // of the places along one dimension: torus, mesh, HyperX

struct Dimension {
  std::int32_t size = 1;
  Wiring wiring = Wiring::ring;
};

class Torus {
 public:
  Torus() = default;
  // Routes go through the dimensions in `order`; empty: the first first. At most 2^31 - 1 vertices.
  explicit Torus(std::vector<Dimension> dimensions, std::vector<std::size_t> order = {});

  std::int32_t vertices() const { return vertices_; }
  std::vector<std::int32_t> coordinates(std::int32_t vertex) const;
  std::int32_t vertex(const std::vector<std::int32_t>& coordinates) const;  // -1: there is none
  std::int32_t hops(std::int32_t from, std::int32_t to) const;
  std::int32_t diameter() const;
  std::vector<std::int32_t> route(std::int32_t from, std::int32_t to) const;
  std::vector<std::int32_t> neighbours(std::int32_t vertex) const;  // ascending, each once

 private:
  // Several dimensions together, with a table of all their distances: two or three look-ups make a distance.
  struct Block {
    std::int32_t size = 1;
    std::vector<std::uint16_t> table;  // size x size; empty: one long dimension, by formula
    Wiring wiring = Wiring::ring;
    std::vector<std::int32_t> place;  // of each vertex
  };
  std::int32_t along(std::size_t dimension, std::int32_t a, std::int32_t b) const;
  void add_block(std::size_t begin, std::size_t end);
  std::int32_t coordinate(std::size_t dimension, std::int32_t vertex) const {
    return vertex / strides_[dimension] % dimensions_[dimension].size;
  }
  std::vector<Dimension> dimensions_;
  std::vector<std::int32_t> strides_;
  std::vector<std::size_t> order_;
  std::vector<Block> blocks_;
  std::int32_t vertices_ = 0;
};

}  // namespace pclscope::mapping
