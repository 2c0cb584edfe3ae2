// What a job on several nodes has besides: clocks, links between nodes, and what its aggregators say of themselves;
// part of a Snapshot (snapshot.hpp).
#pragma once

#include <cstdint>
#include <vector>

namespace pclscope {

// A node's clock against the root's (docs/methods.md, "Clocks between nodes").
struct ClockState {
  std::int32_t node = 0;  // index into Application::nodes
  double at_s = 0;        // newest estimate, seconds since the time origin
  double offset_s = 0;    // the root's axis minus the node's own
  double drift = 0;       // s/s
  double error_s = 0;     // bound of the offset's error
  bool operator==(const ClockState&) const = default;
};

// In a dump of a run that ended in order: the clocks re-estimated from before and after every moment. Linear between
// points.
struct ClockCorrection {
  std::int32_t node = 0;
  double at_s = 0;          // as stored, since the time origin
  double correction_s = 0;  // to be added to that node's stored times
  double error_s = 0;       // bound of the error that is left
  bool operator==(const ClockCorrection&) const = default;
};

// Messages from one node to another, over all their ranks. Ratios of transfers: to what is usual between nodes.
struct NodeLink {
  std::int32_t source = 0;  // indices into Application::nodes
  std::int32_t destination = 0;
  std::uint64_t messages = 0;  // since the job began
  std::uint64_t bytes = 0;
  std::uint64_t delayed = 0;
  double mean_latency_ratio = 0;
  double mean_transfer_ratio = 0;
  double late_sender_s = 0;  // blocked time (analysis/values/blocked_time.hpp), rank-seconds
  double late_receiver_s = 0;
  double transfer_s = 0;  // exposed
  double mean_transfer_s = 0;
  std::uint64_t newest_messages = 0;  // of the last 2 to 4 seconds
  double newest_transfer_ratio = 0;
  double peak_transfer_ratio = 0;  // of the worst interval of 2 seconds
  double peak_s = 0;               // its begin, since the time origin
  bool operator==(const NodeLink&) const = default;
};

// Of a job on several nodes: what its aggregators say of themselves.
struct Network {
  std::uint64_t traffic_bytes = 0;  // sent between aggregators so far
  std::uint64_t messages_left_out =
      0;  // counted and measured on their node, but not sent to the root: the traffic budget
  std::uint64_t collectives_left_out = 0;  // the same, of calls
  std::vector<std::int32_t> dead_nodes;  // indices: their aggregator died; what their ranks do is not recorded any more
  std::vector<ClockState> clocks;        // of the nodes but the root
  std::vector<ClockCorrection> corrections;  // in a dump only; by node, ascending times
  std::vector<NodeLink> links;               // most messages first, at most 1,000
  bool operator==(const Network&) const = default;
};

}  // namespace pclscope
