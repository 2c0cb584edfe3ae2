// How much of each rank's record was read, as its rings say themselves (interpose/record/FORMAT.md).
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/collect/collector.hpp"

namespace pclscope::collect {

struct RankRecord {
  bool here = false;              // a ring of it was found
  bool whole = false;             // all that it recorded was read, and no more will come
  std::uint64_t until_ticks = 0;  // not whole: end of the newest event before the first that may be missing; 0: none
};

// By rank. `over`: reading has ended; in a session of a job that was only preloaded, the session too: a living rank
// that has not noticed yet has recorded all of it then.
std::vector<RankRecord> rank_records(const Collector& collector, std::size_t ranks, bool over);

}  // namespace pclscope::collect
