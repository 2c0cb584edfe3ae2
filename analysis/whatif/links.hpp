// Other transfers: what messages between nodes would take if their links were as they usually are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/replay.hpp"

namespace pclscope::whatif {

struct Links {
  std::uint64_t changed = 0;  // messages
  std::string as;             // empty: what is usual is not known, nothing was changed
};

// Shortens `lags` (of the graph's arrivals) in the stretches, of messages between the pairs (from, to) of nodes: to
// what the same size took outside the stretches (median of at least five that a call waited for last), else on other
// links between nodes. Transfers in collectives stay.
Links healthy(const Graph& graph, std::span<const Stretch> stretches, std::span<const Message> messages,
              std::span<const std::int32_t> node_of_rank, std::span<const std::int32_t> nodes,
              std::vector<std::int64_t>& lags);

}  // namespace pclscope::whatif
