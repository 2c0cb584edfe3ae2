// What holds the end of a replayed period: its critical path, by what the time on it is.
#pragma once

#include <cstdint>
#include <span>

#include "analysis/whatif/graph.hpp"
#include "analysis/whatif/replay.hpp"

namespace pclscope::whatif {

struct PathSums {
  double named_s = 0;            // computation of the ranks in question
  double others_s = 0;           // of other ranks
  double inside_s = 0;           // transfers, and MPI's own work
  std::int32_t other = -1;       // of those the one that is longest on the path, -1: none
  std::uint32_t other_site = 0;  // and the call before which it computes most of that
  double other_s = 0;
  double untold_s = 0;  // in collectives and calls that complete something, of which it is not known for whom they wait
};

// `times` and `trace`: of replay() with `lags`.
PathSums path_of(const Graph& graph, std::span<const Stretch> ranks, std::span<const std::int64_t> lags,
                 const Times& times, const Trace& trace, std::span<const std::int32_t> named);

}  // namespace pclscope::whatif
