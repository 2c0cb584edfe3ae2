// What the status strip and the status panel share.
#pragma once

#include <algorithm>
#include <cstdint>

#include "analysis/values/efficiency.hpp"
#include "viewer/gui/base/selection.hpp"
#include "viewer/gui/frame/status_words.hpp"

namespace pclscope::gui {

layout::Rgba urgency_colour(Urgency urgency, const layout::Palette& palette);
std::int64_t realtime_ns();  // CLOCK_REALTIME

// Five rows at the cursor; `region` may be none.
void draw_efficiencies(const Scene& scene, const Efficiency& job, const Efficiency* region, std::int32_t region_id);

// Ranks that the job does not have are not selected.
inline void select_ranks(Selection& selection, const Snapshot& snapshot, std::vector<std::int32_t> ranks,
                         std::int32_t focus) {
  std::erase_if(ranks, [&](std::int32_t r) { return r < 0 || r >= snapshot.application.ranks; });
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return;
  selection.rank = std::binary_search(ranks.begin(), ranks.end(), focus) ? focus : ranks.front();
  selection.ranks = std::move(ranks);
}
inline void select_rank(Selection& selection, const Snapshot& snapshot, std::int32_t rank) {
  select_ranks(selection, snapshot, {rank}, rank);
}
inline void select_deadlock(Selection& selection, const Snapshot& snapshot, std::size_t which) {
  std::vector<std::int32_t> ranks;
  for (const DeadlockMember& member : snapshot.deadlocks.at(which).members) ranks.push_back(member.rank);
  const std::int32_t first = ranks.empty() ? -1 : ranks.front();
  select_ranks(selection, snapshot, std::move(ranks), first);
}

}  // namespace pclscope::gui
