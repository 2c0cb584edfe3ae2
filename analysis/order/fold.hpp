// Folding a dependency graph: several nodes become one, so that a user sees less at once.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/values/dag.hpp"

namespace pclscope {

// What hangs right of a node: all that depends on it, or only what depends on nothing else (every way to it from the
// left leads through the node).
enum class FoldReach : std::uint8_t { descendants, only_through };

struct Folds {
  std::vector<std::int32_t> nodes;  // each becomes one with what hangs right of it
  std::vector<std::int32_t> ranks;  // all nodes of each become one
  FoldReach reach = FoldReach::descendants;
};

struct FoldedDag {
  Dag dag;
  std::vector<std::vector<std::int32_t>> stands_for;  // by node of `dag`: nodes of the original, ascending
  std::uint64_t inside = 0;                           // messages between nodes that became one: not listed any more
  std::uint64_t returning = 0;  // to a folded rank's node from nodes after its begin: listed in nodes, without edge
};

// Nodes and ranks that do not exist are ignored. Ranks first: their nodes hang right of nobody. Of `nodes` one that
// is left of others takes first; what an earlier one took is gone. The result is again in logical order, each edge
// from a lower to a higher index. A folded node has the rank of the leftmost of those it stands for. The graph of
// folded ranks alone would have cycles where two exchange messages: then the one that began first stands left, and
// messages back to it are `returning`. O((nodes + messages) log) for each call, with only_through and descendants
// alike.
FoldedDag fold(const Dag& dag, const Folds& folds);

}  // namespace pclscope
