// Programs whose phases, steps and lateness are known on paper, for the simulator of tests/analysis/delay: a call takes
// 200 ns, a small message 2 us.
#pragma once

#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analysis/logical/logical_time.hpp"
#include "tests/analysis/delay/programs.hpp"

namespace pclscope::test {

inline logical::LogicalTime logical_time_of(std::int32_t ranks, std::span<const Message> messages,
                                            std::span<const CollectiveCall> collectives = {}) {
  logical::Records records(ranks);
  records.add(messages);
  records.add(collectives);
  auto time = std::move(records).logical_time();
  if (!time) throw std::runtime_error(time.error().message);
  return std::move(*time);
}
inline logical::LogicalTime logical_time_of(const Program& program) {
  const Outcome outcome = simulate(program);
  return logical_time_of(program.ranks(), outcome.messages, outcome.collectives);
}

inline std::vector<std::uint32_t> steps_of_rank(const logical::LogicalTime& t, std::int32_t rank) {
  std::vector<std::uint32_t> steps;
  for (std::uint32_t e = t.first[static_cast<std::size_t>(rank)]; e < t.first[static_cast<std::size_t>(rank) + 1]; ++e)
    steps.push_back(t.events[e].step);
  return steps;
}
inline std::vector<std::int32_t> ranks_of(const logical::LogicalTime& t, const logical::Phase& p) {
  std::vector<std::int32_t> ranks;
  for (const logical::Part& part : t.parts_of(p)) ranks.push_back(part.rank);
  return ranks;
}

// A call a nanosecond after the one before: what happens at the same nanosecond has no order.
inline void call(Program& p, std::int32_t rank, K kind, std::uint32_t at, std::int32_t peer = -1) {
  p.compute(rank, 1);
  p.call(rank, kind, at, peer);
}

// Ranks gather along a tree of `arity`, whose inner nodes are on the ranks that its powers divide, and what was
// gathered goes back along it, of each level when it is there. Original order: to those children first that are next in
// rank, and downwards before upwards. Improved: upwards first, then to higher children first.
inline Program merge_tree(std::int32_t ranks, std::int32_t arity, bool improved,
                          const std::vector<std::int64_t>& compute_ns = {}) {
  Program p(ranks);
  std::vector<std::int32_t> width = {1};  // of a child of each level
  while (width.back() < ranks) width.push_back(width.back() * arity);
  const int levels = static_cast<int>(width.size()) - 1;
  for (std::int32_t r = 0; r < ranks; ++r) {
    int height = 0;
    while (height < levels && r % width[static_cast<std::size_t>(height) + 1] == 0) ++height;
    const auto children = [&](int level, auto visit) {
      const std::int32_t by = width[static_cast<std::size_t>(level)];
      for (std::int32_t c = r + by; c < r + arity * by && c < ranks; c += by) visit(c);
    };
    const auto scatter = [&](int top) {
      for (int i = 0; i <= top; ++i)
        children(improved ? top - i : i, [&](std::int32_t c) { call(p, r, K::send, site::send, c); });
    };
    if (!compute_ns.empty()) p.compute(r, compute_ns[static_cast<std::size_t>(r)]);
    for (int level = 0; level < height; ++level) {
      children(level, [&](std::int32_t c) { call(p, r, K::recv, site::recv, c); });
      if (!improved) scatter(level);
    }
    const std::int32_t parent = height < levels ? r - r % width[static_cast<std::size_t>(height) + 1] : -1;
    if (parent >= 0) call(p, r, K::send, site::task_send, parent);
    if (improved)
      for (int level = height - 1; level >= 0; --level) scatter(level);
    for (int level = height; level < levels; ++level) {
      call(p, r, K::recv, site::result_recv, parent);
      if (height > 0) scatter(height - 1);
    }
  }
  return p;
}

struct Grid {
  std::array<std::int32_t, 3> extent;
  std::int32_t size() const { return extent[0] * extent[1] * extent[2]; }
  std::int32_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? extent[0] : extent[0] * extent[1]; }
  // -1: beyond the border.
  std::int32_t neighbour(std::int32_t rank, int axis, int by) const {
    const std::int32_t at = rank / stride(axis) % extent[static_cast<std::size_t>(axis)] + by;
    return at < 0 || at >= extent[static_cast<std::size_t>(axis)] ? -1 : rank + by * stride(axis);
  }
};

// Near-neighbour exchange without periodic borders: for each axis upwards, then downwards, a send and a receive each.
// `compute_ns(rank, iteration)` before each exchange.
template <class Compute>
Program exchange(const Grid& grid, int iterations, Compute compute_ns) {
  Program p(grid.size());
  for (std::int32_t r = 0; r < grid.size(); ++r)
    for (int i = 0; i < iterations; ++i) {
      p.compute(r, compute_ns(r, i));
      for (int axis = 0; axis < 3; ++axis)
        for (const int by : {1, -1}) {
          const std::int32_t to = grid.neighbour(r, axis, by), from = grid.neighbour(r, axis, -by);
          if (to >= 0) call(p, r, K::send, site::send, to);
          if (from >= 0) call(p, r, K::recv, site::recv, from);
        }
    }
  return p;
}

}  // namespace pclscope::test
