// Other computation: what ranks would compute between their calls if a delay were not there, or if the load were equal.
//
// Pieces of computation are compared by place: between which two calls they lie (site and kind of both). Where less
// than half of the time lies at places that others have, too, the sums over all places are compared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/replay.hpp"

namespace pclscope::whatif {

struct Computation {
  std::vector<std::int64_t> gaps;  // before each call of the graph
  std::uint64_t changed = 0;       // how many of them
  std::string as;                  // "as its peers compute there"; empty: nothing could be compared, nothing is changed
};

Computation as_measured(const Graph& graph);
// The q-th of a rank's pieces at a place takes no longer than the q-th of it in its own calm time (when there are
// enough and they are shorter), else than the q-th of the typical peer (the median over the other ranks). Where no
// other rank computes, it is shared with those that wait for it meanwhile.
Computation without_delays(const Graph& graph, std::span<const Stretch> stretches, std::span<const Period> calm,
                           std::span<const std::int32_t> ranks);
// At each place all ranks that compute there compute equally long: each time, where they do so as often (the least nine
// tenths of the most), else in all. What only some ranks compute there is shared with those that wait for them.
Computation balanced(const Graph& graph, std::span<const Stretch> stretches);
// No piece of computation takes longer than usual at its place: those beyond 1.5 times the median take the median.
Computation steady(const Graph& graph, std::span<const Stretch> stretches);

}  // namespace pclscope::whatif
