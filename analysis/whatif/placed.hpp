// Other transfers: what messages would take if ranks ran on other nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/values/message.hpp"
#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/replay.hpp"
#include "analysis/whatif/transfer_times.hpp"

namespace pclscope::whatif {

struct Placed {
  std::uint64_t changed = 0;  // messages that go another distance
  std::uint64_t untold = 0;   // of which it is not known what they take there: they stay as measured
};

// Sets `lags` (of the graph's arrivals) in the stretches, of messages whose distance another placement changes, to what
// such messages take there. All others, and transfers in collectives, stay as measured.
Placed place_anew(const Graph& graph, std::span<const Stretch> stretches, std::span<const Message> messages,
                  std::span<const std::int32_t> node_of_rank, std::span<const std::int32_t> placed, const Hops& hops,
                  const TransferTimes& times, std::vector<std::int64_t>& lags);

}  // namespace pclscope::whatif
