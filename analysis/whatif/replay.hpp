// Replays a part of a graph with other computation or other transfers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/period.hpp"

namespace pclscope::whatif {

// The calls of one rank that are replayed: those that return in the period. Before them it computes from `start` on, in
// the end for `tail`.
struct Stretch {
  std::uint32_t first = 0, end = 0;  // calls
  std::int64_t start = 0;
  std::int64_t tail = 0;
};
// Of each rank. Ranks without a call in the period have none.
std::vector<Stretch> stretches(const Graph& graph, const Period& period);

struct Times {
  std::int64_t end = INT64_MIN;    // when the last rank has come to its end
  std::vector<std::int64_t> ends;  // each rank; of those without a stretch none: INT64_MIN
  std::uint64_t left_out = 0;      // arrivals that contradict each other, in damaged data
};
struct Trace {                        // when what happened in a replay
  std::vector<std::int64_t> begins;   // of each node of the graph; INT64_MIN: it did not
  std::vector<std::int64_t> returns;  // of each call; INT64_MIN: of no stretch
};

// `gaps`: computation before each call of the graph (Graph::gap), `lags`: of each arrival. Those of calls outside the
// stretches are not looked at: such calls begin when they were measured to. A call at the begin of the period whose
// computation began earlier has the same share of it in the period as was measured.
Times replay(const Graph& graph, std::span<const Stretch> ranks, std::span<const std::int64_t> gaps,
             std::span<const std::int64_t> lags, Trace* trace = nullptr);

// On an ideal network: calls and transfers take no time, a call returns when whom it waits for has come. What lies
// before the stretches begins when `moved` says, given the rank and the measured moment; computation stays.
struct IdealTimes {
  std::vector<std::int64_t> returns;  // of each call of the graph; INT64_MIN: of no stretch
  std::uint64_t left_out = 0;         // as of Times
};
using Moved = std::function<std::int64_t(std::int32_t rank, std::int64_t measured)>;
IdealTimes replay_ideal(const Graph& graph, std::span<const Stretch> ranks, const Moved& moved);

}  // namespace pclscope::whatif
