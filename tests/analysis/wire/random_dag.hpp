// Dependency graphs as the wire may carry them, reproducible from a seed.
#pragma once

#include <random>

#include "analysis/values/dag.hpp"

namespace pclscope::testing {

// `nodes` nodes with about two messages each; every message is on its sender's and its receiver's node.
inline Dag random_dag(std::uint64_t seed, std::int32_t nodes, std::int32_t ranks = 16) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(limit));
  };
  Dag dag;
  dag.region = below(100) - 1;
  dag.from_s = below(1000) * 0.25;
  dag.to_s = dag.from_s + 2.5;
  for (std::int32_t r = 0; r < ranks; r++)
    dag.ranks.push_back({r, below(3) - 1, random() >> 40, below(9) * 0.5, below(9) * 0.125});
  for (std::int32_t n = 0; n < nodes; n++) {
    DagNode node;
    node.rank = below(ranks);
    node.layer = below(nodes);
    node.begin_s = n * 1e-4;
    node.end_s = node.begin_s + 5e-5;
    dag.nodes.push_back(node);
  }
  for (std::int32_t m = 0; nodes > 1 && m < nodes; m++) {
    const std::int32_t to = 1 + below(nodes - 1), from = below(to);
    DagMessage message{to,
                       dag.nodes[static_cast<std::size_t>(to)].rank,
                       below(1000),
                       random() >> 40,
                       m * 1e-4,
                       below(99) * 1e-6,
                       below(99) * 0.1,
                       below(99) * 1e-7,
                       static_cast<std::uint32_t>(below(50))};
    dag.nodes[static_cast<std::size_t>(from)].sent.push_back(message);
    message.other_node = from;
    message.peer = dag.nodes[static_cast<std::size_t>(from)].rank;
    dag.nodes[static_cast<std::size_t>(to)].received.push_back(message);
    dag.edges.push_back({from, to, 1, message.bytes, message.ratio});
    dag.messages++;
  }
  dag.messages_missing = random() >> 50;
  dag.partial = dag.messages_missing > 0;
  if (dag.partial) dag.why_partial = "some messages were not kept";
  return dag;
}

}  // namespace pclscope::testing
