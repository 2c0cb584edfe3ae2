#include "analysis/store/flatten.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "analysis/store/stretch.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope::store {
namespace {

template <class Row, class Value>
Row row_of(const Value& value) {
  Row row;
  static_cast<Value&>(row) = value;
  return row;
}

template <class Row>
void put_waits(Row& row, std::vector<WaitRow>& waits) {
  row.waits_begin = waits.size();
  row.waits_count = row.waits_for.size();
  for (const std::int32_t rank : row.waits_for) waits.push_back({rank});
}

template <class Row>
bool take_waits(const Row& row, const std::vector<WaitRow>& waits, std::uint64_t& next, std::vector<std::int32_t>& to) {
  if (!follows(row.waits_begin, row.waits_count, waits.size(), next)) return false;
  for (std::uint64_t i = 0; i < row.waits_count; i++) to.push_back(waits[row.waits_begin + i].rank);
  return true;
}

}  // namespace

FlatRegions flatten(const std::vector<Region>& regions) {
  FlatRegions flat;
  for (const Region& region : regions) {
    RegionRow row = row_of<RegionRow>(region);
    row.ranks_begin = flat.ranks.size();
    row.ranks_count = region.ranks.size();
    row.history_begin = flat.history.size();
    row.history_count = std::min(region.history_ratio.size(), region.history_messages.size());
    for (const std::int32_t rank : region.ranks) flat.ranks.push_back({rank});
    for (std::size_t i = 0; i < row.history_count; i++) {
      flat.history.push_back({region.history_ratio[i], region.history_messages[i]});
    }
    row.periods_begin = flat.periods.size();
    row.periods_count = region.periods.size();
    flat.periods.insert(flat.periods.end(), region.periods.begin(), region.periods.end());
    flat.regions.push_back(std::move(row));
  }
  return flat;
}

bool unflatten(const FlatRegions& flat, std::vector<Region>& regions) {
  std::uint64_t ranks = 0, windows = 0, periods = 0;
  for (const RegionRow& row : flat.regions) {
    if (!follows(row.periods_begin, row.periods_count, flat.periods.size(), periods)) return false;
    if (!follows(row.ranks_begin, row.ranks_count, flat.ranks.size(), ranks)) return false;
    if (!follows(row.history_begin, row.history_count, flat.history.size(), windows)) return false;
    Region region = row;
    for (std::uint64_t i = 0; i < row.ranks_count; i++) region.ranks.push_back(flat.ranks[row.ranks_begin + i].rank);
    for (std::uint64_t i = 0; i < row.history_count; i++) {
      region.history_ratio.push_back(flat.history[row.history_begin + i].ratio);
      region.history_messages.push_back(flat.history[row.history_begin + i].messages);
    }
    for (std::uint64_t i = 0; i < row.periods_count; i++) {
      Period& period = region.periods.emplace_back(flat.periods[row.periods_begin + i]);
      if (period.kind > PeriodKind::steady) period.kind = PeriodKind::other;
    }
    regions.push_back(std::move(region));
  }
  return true;
}

FlatDelays flatten(const std::vector<DelayOrigin>& delays) {
  FlatDelays flat;
  for (const DelayOrigin& delay : delays) {
    DelayRow row = row_of<DelayRow>(delay);
    row.victims_begin = flat.victims.size();
    row.victims_count = std::min(delay.victims.size(), delay.victim_s.size());
    for (std::size_t i = 0; i < row.victims_count; i++) flat.victims.push_back({delay.victims[i], delay.victim_s[i]});
    flat.delays.push_back(std::move(row));
  }
  return flat;
}

bool unflatten(const FlatDelays& flat, std::vector<DelayOrigin>& delays) {
  std::uint64_t victims = 0;
  for (const DelayRow& row : flat.delays) {
    if (!follows(row.victims_begin, row.victims_count, flat.victims.size(), victims)) return false;
    DelayOrigin delay = row;
    for (std::uint64_t i = 0; i < row.victims_count; i++) {
      delay.victims.push_back(flat.victims[row.victims_begin + i].rank);
      delay.victim_s.push_back(flat.victims[row.victims_begin + i].lost_s);
    }
    delays.push_back(std::move(delay));
  }
  return true;
}

bool is_forest(const Dendrogram& dendrogram) {
  std::int64_t leaves = 0;
  const auto ranks = static_cast<std::int64_t>(dendrogram.leaf_of_rank.size());
  for (const std::int32_t leaf : dendrogram.leaf_of_rank) {
    if (leaf < -1 || leaf >= ranks) return false;
    leaves = std::max<std::int64_t>(leaves, leaf + 1);
  }
  std::vector<bool> merged(static_cast<std::size_t>(leaves) + dendrogram.merges.size());
  for (std::size_t k = 0; k < dendrogram.merges.size(); k++) {
    for (const std::int32_t part : {dendrogram.merges[k].left, dendrogram.merges[k].right}) {
      if (part < 0 || part >= leaves + static_cast<std::int64_t>(k) || merged[static_cast<std::size_t>(part)])
        return false;
      merged[static_cast<std::size_t>(part)] = true;
    }
  }
  return true;
}

FlatFunctions flatten(const std::vector<FunctionActivity>& functions) {
  FlatFunctions flat;
  for (const FunctionActivity& function : functions) {
    FunctionRow row = row_of<FunctionRow>(function);
    const std::string_view name = record::function_name(function.function);
    std::memcpy(row.name.data(), name.data(), std::min(name.size(), row.name.size()));
    row.history_begin = flat.history.size();
    row.history_count = function.history_share.size();
    for (const float share : function.history_share) flat.history.push_back({share});
    flat.functions.push_back(std::move(row));
  }
  return flat;
}

bool unflatten(const FlatFunctions& flat, std::vector<FunctionActivity>& functions) {
  std::uint64_t windows = 0;
  for (const FunctionRow& row : flat.functions) {
    if (!follows(row.history_begin, row.history_count, flat.history.size(), windows)) return false;
    FunctionActivity function = row;
    for (std::uint64_t i = 0; i < row.history_count; i++) {
      function.history_share.push_back(flat.history[row.history_begin + i].share);
    }
    functions.push_back(std::move(function));
  }
  return true;
}

FlatWaits flatten(const std::vector<RankSummary>& ranks, const std::vector<Deadlock>& deadlocks) {
  FlatWaits flat;
  for (const RankSummary& rank : ranks) {
    flat.ranks.push_back(row_of<RankRow>(rank));
    put_waits(flat.ranks.back(), flat.waits);
  }
  for (const Deadlock& deadlock : deadlocks) {
    DeadlockRow row = row_of<DeadlockRow>(deadlock);
    row.members_begin = flat.members.size();
    row.members_count = deadlock.members.size();
    flat.deadlocks.push_back(std::move(row));
    for (const DeadlockMember& member : deadlock.members) {
      flat.members.push_back(row_of<DeadlockMemberRow>(member));
      put_waits(flat.members.back(), flat.waits);
    }
  }
  return flat;
}

bool unflatten(const FlatWaits& flat, std::vector<RankSummary>& ranks, std::vector<Deadlock>& deadlocks) {
  std::uint64_t waits = 0, members = 0;
  for (const RankRow& row : flat.ranks) {
    RankSummary& rank = ranks.emplace_back(row);
    if (!take_waits(row, flat.waits, waits, rank.waits_for)) return false;
  }
  for (const DeadlockRow& row : flat.deadlocks) {
    if (!follows(row.members_begin, row.members_count, flat.members.size(), members)) return false;
    Deadlock deadlock = row;
    for (std::uint64_t i = 0; i < row.members_count; i++) {
      const DeadlockMemberRow& member = flat.members[row.members_begin + i];
      deadlock.members.push_back(member);
      if (!take_waits(member, flat.waits, waits, deadlock.members.back().waits_for)) return false;
    }
    deadlocks.push_back(std::move(deadlock));
  }
  return true;
}

}  // namespace pclscope::store
