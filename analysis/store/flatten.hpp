// Lists inside values become stretches of another table's rows, and back. Going back, every entry must belong to
// exactly the row that follows the one before: a damaged file cannot make us copy entries again and again. Private to
// analysis/store.
#pragma once

#include <vector>

#include "analysis/store/call_columns.hpp"
#include "analysis/store/columns.hpp"
#include "analysis/store/region_columns.hpp"

namespace pclscope::store {

struct FlatRegions {
  std::vector<RegionRow> regions;
  std::vector<RegionRankRow> ranks;
  std::vector<RegionHistoryRow> history;
  std::vector<Period> periods;
};
FlatRegions flatten(const std::vector<Region>& regions);
bool unflatten(const FlatRegions& flat, std::vector<Region>& regions);

struct FlatDelays {
  std::vector<DelayRow> delays;
  std::vector<VictimRow> victims;
};
FlatDelays flatten(const std::vector<DelayOrigin>& delays);
bool unflatten(const FlatDelays& flat, std::vector<DelayOrigin>& delays);

// False when it is not a forest: a cluster that is not there yet, or that is part of two others.
bool is_forest(const Dendrogram& dendrogram);

struct FlatFunctions {
  std::vector<FunctionRow> functions;
  std::vector<ShareRow> history;
};
FlatFunctions flatten(const std::vector<FunctionActivity>& functions);
bool unflatten(const FlatFunctions& flat, std::vector<FunctionActivity>& functions);

// `waits` has the ranks' lists, then those of the deadlocks' members.
struct FlatWaits {
  std::vector<RankRow> ranks;
  std::vector<DeadlockRow> deadlocks;
  std::vector<DeadlockMemberRow> members;
  std::vector<WaitRow> waits;
};
FlatWaits flatten(const std::vector<RankSummary>& ranks, const std::vector<Deadlock>& deadlocks);
bool unflatten(const FlatWaits& flat, std::vector<RankSummary>& ranks, std::vector<Deadlock>& deadlocks);

}  // namespace pclscope::store
