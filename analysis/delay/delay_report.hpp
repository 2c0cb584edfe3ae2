// What `inspect FILE delays` tells of a stored run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/delay/delays.hpp"

namespace pclscope {

struct DelayQuestion {
  std::int64_t from_ns = INT64_MIN;  // waits that end in [from_ns, to_ns)
  std::int64_t to_ns = INT64_MAX;
  std::vector<std::int32_t> ranks;  // who waited, or where it began; empty: all
  std::size_t most = 100;           // origins
};

struct DelayReport {
  std::vector<DelayOrigin> origins;  // most cost first
  DelayTotals totals;                // of the waits of these ranks
};

// Messages and collective calls of the run from its begin (or some time before from_ns: a delay that is older than what
// is given cannot be told). In any order; what begins at or after to_ns may be left out. Sites are ids.
DelayReport delays_of(std::int32_t ranks, std::span<const Message> messages,
                      std::span<const CollectiveCall> collectives, const DelayQuestion& question);

}  // namespace pclscope
