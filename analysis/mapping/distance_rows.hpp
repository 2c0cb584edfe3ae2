// Shortest distances in any connected graph: breadth-first searches on demand, their rows kept. Vertices with one link
// (nodes at a switch) have no row of their own: one step, then their switch's. Safe for any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/mapping/network.hpp"

namespace pclscope::mapping {

class DistanceRows {
 public:
  // `links` must outlive this and be connected.
  DistanceRows(const Links& links, std::int32_t vertices);
  ~DistanceRows();
  DistanceRows(const DistanceRows&) = delete;
  DistanceRows& operator=(const DistanceRows&) = delete;

  std::int32_t hops(std::int32_t from, std::int32_t to) const;
  // Largest distance of two of the vertices 0 .. nodes-1.
  std::int32_t diameter(std::int32_t nodes) const;

 private:
  using Row = std::vector<std::int32_t>;                         // of the inner vertices; a row costs 4 bytes each
  static constexpr std::size_t budget = std::size_t{256} << 20;  // bytes of kept rows; beyond it one row per thread
  const Row& row(std::int32_t inner) const;
  void search(std::int32_t inner, Row& row) const;
  std::int32_t eccentricity(std::int32_t vertex, std::int32_t nodes, Row& row) const;

  std::vector<std::int32_t> inner_of_;  // of each vertex: its own, or its switch's, number among the inner ones
  std::vector<std::uint8_t> extra_;     // 1: it hangs there
  Links inner_;
  std::int32_t inner_count_ = 0;
  std::size_t most_rows_ = 0;
  const std::uint64_t identity_;  // tells threads' own rows of different graphs apart
  mutable std::atomic<std::size_t> kept_{0};
  mutable std::unique_ptr<std::atomic<Row*>[]> rows_;
};

}  // namespace pclscope::mapping
