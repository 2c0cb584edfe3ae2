// Latency ratios of all closed windows by the criteria of now: of the job, its receivers and nodes.
// O(pairs x sizes) to compute: a live analysis spends a share of wall time on it, and shows those of a moment before
// (with thousands of ranks only).
#pragma once

#include <vector>

#include "analysis/pipeline/measured.hpp"
#include "analysis/values/ratio_sums.hpp"
#include "analysis/values/time_share.hpp"
#include "analysis/window/node_links.hpp"

namespace pclscope {

class RunRatios {
 public:
  explicit RunRatios(double share) : time_(share, share) {}
  // `now`: whatever it costs.
  void refresh(const Measured& measured, bool now);

  RatioSums all;
  std::vector<RatioSums> of_receiver;  // by rank
  NodeRatios of_nodes;

 private:
  TimeShare time_;
};

}  // namespace pclscope
