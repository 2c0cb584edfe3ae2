// The dependency graph of a region in a period (PCLVis, Algorithm 2), with what a CS-glyph shows of each node.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pclscope {

// Which messages: those whose source and destination are both among the ranks, and whose send begins or whose receive
// ends in [from_ns, to_ns). Times are nanoseconds since the job's time origin.
struct DagQuestion {
  std::int32_t region = -1;         // id; -1: `ranks`, and when that is empty all ranks
  std::vector<std::int32_t> ranks;  // ascending
  std::int64_t from_ns = INT64_MIN;
  std::int64_t to_ns = INT64_MAX;
  std::uint32_t most_messages = 100'000;  // beyond: the answer is partial
};

// One message as seen from the node that sent or received it.
struct DagMessage {
  std::int32_t other_node = -1;  // index of the node at the other end
  std::int32_t peer = 0;         // its rank
  std::int32_t tag = 0;
  std::uint64_t bytes = 0;
  double begin_s = 0;      // send began, since the time origin
  double time_s = 0;       // until the receive completed
  double ratio = 0;        // L; 0 when it has none
  double call_s = 0;       // of this side's call: the send's, or how long its receiver could do nothing but wait
  std::uint32_t site = 0;  // of this side's call, as Message's; 0 not known
  bool operator==(const DagMessage&) const = default;
};

struct DagNode {
  std::int32_t rank = 0;
  std::int32_t layer = 0;            // longest path from a node without predecessors
  double begin_s = 0;                // of its first event
  double end_s = 0;                  // of its last
  std::vector<DagMessage> received;  // in logical order
  std::vector<DagMessage> sent;
  bool operator==(const DagNode&) const = default;
};

struct DagEdge {          // all messages from one node to another
  std::int32_t from = 0;  // indices of nodes
  std::int32_t to = 0;
  std::uint32_t messages = 0;
  std::uint64_t bytes = 0;
  double ratio = 0;  // mean L
  bool operator==(const DagEdge&) const = default;
};

// What all glyphs of a rank share in this period (reference §4).
struct DagRank {
  std::int32_t rank = 0;
  std::int32_t compute_node = -1;  // index into Application::nodes
  std::uint64_t messages = 0;      // mc_p: sent + received
  double load_balance = 0;         // LB_p = |mc_p - mc_avg| / AD; 0 where all ranks have equally many
  double node_ratio = 0;           // mean L of the messages that ranks of its compute node received
  bool operator==(const DagRank&) const = default;
};

struct Dag {
  std::int32_t region = -1;
  double from_s = 0;
  double to_s = 0;
  std::vector<DagRank> ranks;  // ascending
  std::vector<DagNode> nodes;  // in logical order: edges go from lower to higher indices; those of a rank too
  std::vector<DagEdge> edges;
  std::uint64_t messages = 0;          // in the graph: one edge each, or inside one node
  std::uint64_t messages_missing = 0;  // known to be in the period, but not kept, or beyond the limit
  bool partial = false;
  std::string why_partial;  // one line, empty when whole
  bool operator==(const Dag&) const = default;
};

}  // namespace pclscope
