// What each node sent to each other node: sums since the job began, of the newest seconds, and of the worst interval.
// One thread owns a NodeLinks. Memory: 350 bytes per pair of nodes that ever exchanged a message.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/values/latency_sums.hpp"
#include "analysis/values/ratio_sums.hpp"
#include "analysis/values/snapshot.hpp"

namespace pclscope {

// By nodes: source, destination.
using NodeRatios = std::map<std::pair<std::int32_t, std::int32_t>, RatioSums>;

class NodeLinks {
 public:
  static constexpr std::int64_t interval_ns = 2'000'000'000;
  static constexpr std::uint64_t enough = 8;  // timed messages, to call an interval the worst

  // Messages of a pair of ranks on these nodes; of one node, or of unknown ones: nothing.
  void add(std::int32_t source, std::int32_t destination, const LatencySums& sums) {
    if (source < 0 || destination < 0 || source == destination) return;
    Link& link = links_[{source, destination}];
    link.total += sums;
    link.now += sums;
  }
  // Time has come so far: begins a new interval when it is time to.
  void advance(std::int64_t now_ns);

  // Most messages first; ratios of the whole time from `ratios`.
  std::vector<NodeLink> list(std::size_t most, const NodeRatios& ratios) const;

 private:
  struct Link {
    LatencySums total, now, before;
    double peak_ratio = 0;
    std::int64_t peak_ns = 0;
  };
  std::map<std::pair<std::int32_t, std::int32_t>, Link> links_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace pclscope
