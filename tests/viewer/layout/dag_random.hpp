// Random dependency graphs: sound ones, as fold() would number them, and broken ones, as nobody should ever send.
#pragma once

#include <cstdint>
#include <limits>
#include <random>

#include "analysis/order/fold.hpp"
#include "analysis/values/dag.hpp"

namespace pclscope::test {

// Messages only from lower to higher nodes; links and layers as the analysis makes them.
inline Dag random_dag(std::mt19937_64& random, std::int32_t nodes, std::int32_t messages, std::int32_t ranks) {
  Dag dag;
  const auto below = [&](std::int32_t n) {
    return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (std::int32_t r = 0; r < ranks; ++r) dag.ranks.push_back({r, r / 2, 4, static_cast<double>(below(30)) / 10, 1.5});
  for (std::int32_t i = 0; i < nodes; ++i) dag.nodes.push_back({below(ranks), 0, i * 0.1, i * 0.1 + 0.05, {}, {}});
  for (std::int32_t m = 0; nodes > 1 && m < messages; ++m) {
    const std::int32_t to = 1 + below(nodes - 1), from = std::max(0, to - 1 - below(std::min(to, 6)));
    DagNode &a = dag.nodes[static_cast<std::size_t>(from)], &b = dag.nodes[static_cast<std::size_t>(to)];
    DagMessage message{
        to, b.rank, 1, std::uint64_t{8} << below(12), from * 0.1, 1e-5 * (1 + below(20)), 0.5 + below(8)};
    a.sent.push_back(message);
    message.other_node = from;
    message.peer = a.rank;
    b.received.push_back(message);
    ++dag.messages;
  }
  return fold(dag, {}).dag;  // nothing folded: links and layers are made
}

// Round after round each rank sends to the next: `ranks` nodes in each of `rounds` layers.
inline Dag ring_dag(std::int32_t ranks, std::int32_t rounds) {
  Dag dag;
  for (std::int32_t r = 0; r < ranks; ++r) dag.ranks.push_back({r, r / 2, 4, 1, 1.5});
  for (std::int32_t i = 0; i < ranks * rounds; ++i)
    dag.nodes.push_back({i % ranks, 0, 0.1 * i, 0.1 * i + 0.05, {}, {}});
  for (std::int32_t i = 0; i + ranks < ranks * rounds; ++i) {
    const std::int32_t to = (i / ranks + 1) * ranks + (i + 1) % ranks;
    dag.nodes[static_cast<std::size_t>(i)].sent.push_back({to, (i + 1) % ranks, 1, 64, 0.1 * i, 1e-5, 1});
    dag.nodes[static_cast<std::size_t>(to)].received.push_back({i, i % ranks, 1, 64, 0.1 * i, 1e-5, 1});
    ++dag.messages;
  }
  return fold(dag, {}).dag;
}

// Numbers of all kinds in all places.
inline Dag broken_dag(std::mt19937_64& random) {
  const double odd[] = {0,
                        1,
                        -1,
                        1e300,
                        -1e300,
                        1e-300,
                        std::numeric_limits<double>::quiet_NaN(),
                        std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
  const std::int32_t whole[] = {
      0, 1, 2, 3, 5, 8, 13, -1, -2, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
  const auto number = [&] { return odd[random() % std::size(odd)]; };
  const auto index = [&] { return whole[random() % std::size(whole)]; };
  Dag dag;
  dag.region = index();
  dag.from_s = number();
  dag.to_s = number();
  dag.partial = random() % 2 == 0;
  dag.why_partial = "\x1b[2Jodd\n\x01 reason";
  for (std::size_t i = random() % 12; i > 0; --i) dag.ranks.push_back({index(), index(), random(), number(), number()});
  for (std::size_t i = random() % 20; i > 0; --i) {
    DagNode node{index(), index(), number(), number(), {}, {}};
    for (auto* side : {&node.received, &node.sent})
      for (std::size_t k = random() % 5; k > 0; --k)
        side->push_back(
            {index(), index(), index(), random() % 3 == 0 ? random() : random() % 100, number(), number(), number()});
    dag.nodes.push_back(node);
  }
  for (std::size_t i = random() % 30; i > 0; --i)
    dag.edges.push_back({index(), index(), static_cast<std::uint32_t>(random()), random(), number()});
  return dag;
}

}  // namespace pclscope::test
