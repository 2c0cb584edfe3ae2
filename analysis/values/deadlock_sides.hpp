// The sides of a deadlock of collectives that do not match: who called which.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/values/snapshot.hpp"

namespace pclscope {

struct CollectiveSide {
  std::uint16_t function = 0;
  std::uint32_t site = 0;           // id in Snapshot::sites; 0 not known: they are through with it
  std::vector<std::int32_t> ranks;  // ascending
};

// In the order of the members; none when it is another deadlock.
inline std::vector<CollectiveSide> sides_of(const Deadlock& deadlock) {
  std::vector<CollectiveSide> sides;
  for (const DeadlockMember& m : deadlock.members) {
    if (m.called == 0) continue;
    const std::uint32_t site = m.called == m.function ? m.site : 0;
    auto side = std::find_if(sides.begin(), sides.end(),
                             [&](const CollectiveSide& s) { return s.function == m.called && s.site == site; });
    if (side == sides.end()) {
      sides.push_back({m.called, site, {}});
      side = sides.end() - 1;
    }
    side->ranks.push_back(m.rank);
  }
  for (CollectiveSide& side : sides) std::sort(side.ranks.begin(), side.ranks.end());
  return sides;
}

}  // namespace pclscope
