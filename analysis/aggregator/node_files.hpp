// Files of a job on a node on which several workers end one after the other.
#pragma once

#include "analysis/aggregator/options.hpp"
#include "analysis/collect/collector.hpp"
#include "interpose/record/board.hpp"

namespace pclscope::aggregator {

// For each worker once, when it ended or was found dead: the last of the node removes what the job has left there.
// Those who still need the board have it mapped.
inline void last_of_node_removes(const Options& options, record::Board& board) {
  const std::uint32_t before = board.gone_workers.fetch_add(1);
  if (before + 1 >= static_cast<std::uint32_t>(options.per_node)) collect::remove_leftovers(options.token);
}

}  // namespace pclscope::aggregator
