// The dependency graph of a region in a period: Algorithm 2 of PCLVis. A node is a group of one rank's successive
// events, first receives, then sends: a send joins its rank's newest node or makes one; a receive joins it when it
// holds no send yet, else makes a new one. An edge runs from the node with the matching send.
//
// It has no cycle: within a node every receive comes before every send, so whoever enters a node by a message and
// leaves it by another one goes forward in the order of events; a path of edges is a chain of happened-before.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "analysis/values/dag.hpp"
#include "analysis/values/message.hpp"

namespace pclscope {

struct DagSource {
  std::span<const Message> messages;            // any, in any order: the question selects
  std::span<const std::int32_t> node_of_rank;   // index of the compute node; -1 unknown
  std::function<double(const Message&)> ratio;  // L; 0 or not finite: it has none. Without it no message has one
  std::uint64_t not_kept = 0;                   // messages of the question that `messages` lacks
};

// `question.ranks` are those of its region (a region without ranks has no graph); without region and ranks all ranks
// that node_of_rank has. The graph is partial when messages are not kept, are beyond the limit (those that were sent
// last are left out), name impossible ranks, have an unknown end, or go back in time so that no order exists.
// O(n log n) in the messages of the question.
Dag build_dag(const DagQuestion& question, const DagSource& source);

}  // namespace pclscope
