#include "analysis/rows/snapshot_rows.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "analysis/rows/finding_rows.hpp"
#include "analysis/rows/lists.hpp"
#include "interpose/record/functions.hpp"

namespace pclscope {
namespace {

template <class Row, class Value>
Row row_of(const Value& value) {
  Row row;
  static_cast<Value&>(row) = value;
  return row;
}

template <std::size_t n>
void copy_text(std::string_view text, std::array<char, n>& to) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), n));
}

template <class Row>
void put_waits(Row& row, std::vector<WaitRow>& waits) {
  row.waits_begin = waits.size();
  row.waits_count = row.waits_for.size();
  for (const std::int32_t rank : row.waits_for) waits.push_back({rank});
}

template <class Row>
bool take_waits(const Row& row, const std::vector<WaitRow>& waits, std::uint64_t& next, std::vector<std::int32_t>& to) {
  return each_of(row.waits_begin, row.waits_count, waits, next, [&](const WaitRow& wait) { to.push_back(wait.rank); });
}

void put(const std::vector<Region>& regions, std::vector<RegionRow>& rows, SnapshotRows& to) {
  for (const Region& region : regions) {
    RegionRow row = row_of<RegionRow>(region);
    row.ranks_begin = to.region_ranks.size();
    row.ranks_count = region.ranks.size();
    for (const std::int32_t rank : region.ranks) to.region_ranks.push_back({rank});
    row.history_begin = to.region_history.size();
    row.history_count = std::min(region.history_ratio.size(), region.history_messages.size());
    for (std::size_t i = 0; i < row.history_count; i++)
      to.region_history.push_back({region.history_ratio[i], region.history_messages[i]});
    row.periods_begin = to.region_periods.size();
    row.periods_count = region.periods.size();
    to.region_periods.insert(to.region_periods.end(), region.periods.begin(), region.periods.end());
    rows.push_back(std::move(row));
  }
}

struct RegionLists {  // of how many rows each list was read
  std::uint64_t ranks = 0, windows = 0, periods = 0;
};

bool take(const SnapshotRows& from, const std::vector<RegionRow>& rows, RegionLists& read,
          std::vector<Region>& regions) {
  auto& [ranks, windows, periods] = read;
  for (const RegionRow& row : rows) {
    Region region = row;
    const bool good = each_of(row.periods_begin, row.periods_count, from.region_periods, periods,
                              [&](const Period& period) {
                                region.periods.push_back(period);
                                if (period.kind > PeriodKind::steady) region.periods.back().kind = PeriodKind::other;
                              }) &&
                      each_of(row.ranks_begin, row.ranks_count, from.region_ranks, ranks,
                              [&](const RegionRankRow& member) { region.ranks.push_back(member.rank); }) &&
                      each_of(row.history_begin, row.history_count, from.region_history, windows,
                              [&](const RegionHistoryRow& window) {
                                region.history_ratio.push_back(window.ratio);
                                region.history_messages.push_back(window.messages);
                              });
    if (!good) return false;
    regions.push_back(std::move(region));
  }
  return true;
}

void put(const std::vector<DelayOrigin>& delays, SnapshotRows& to) {
  for (const DelayOrigin& delay : delays) {
    DelayRow row = row_of<DelayRow>(delay);
    row.victims_begin = to.delay_victims.size();
    row.victims_count = std::min(delay.victims.size(), delay.victim_s.size());
    for (std::size_t i = 0; i < row.victims_count; i++)
      to.delay_victims.push_back({delay.victims[i], delay.victim_s[i]});
    to.delays.push_back(std::move(row));
  }
}

bool take(const SnapshotRows& from, std::vector<DelayOrigin>& delays) {
  std::uint64_t victims = 0;
  for (const DelayRow& row : from.delays) {
    DelayOrigin delay = row;
    const auto add = [&](const VictimRow& victim) {
      delay.victims.push_back(victim.rank);
      delay.victim_s.push_back(victim.lost_s);
    };
    if (!each_of(row.victims_begin, row.victims_count, from.delay_victims, victims, add)) return false;
    delays.push_back(std::move(delay));
  }
  return true;
}

void put(const std::vector<FunctionActivity>& functions, SnapshotRows& to) {
  for (const FunctionActivity& function : functions) {
    FunctionRow row = row_of<FunctionRow>(function);
    copy_text(record::function_name(function.function), row.name);
    row.history_begin = to.function_history.size();
    row.history_count = function.history_share.size();
    for (const float share : function.history_share) to.function_history.push_back({share});
    to.functions.push_back(std::move(row));
  }
}

bool take(const SnapshotRows& from, std::vector<FunctionActivity>& functions) {
  std::uint64_t windows = 0;
  for (const FunctionRow& row : from.functions) {
    FunctionActivity function = row;
    const auto add = [&](const ShareRow& window) { function.history_share.push_back(window.share); };
    if (!each_of(row.history_begin, row.history_count, from.function_history, windows, add)) return false;
    functions.push_back(std::move(function));
  }
  return true;
}

void put(const std::vector<Condition>& conditions, SnapshotRows& to) {
  for (const Condition& condition : conditions) {
    ConditionRow row = row_of<ConditionRow>(condition);
    copy_text(condition.process, row.process_name);
    row.ranks_begin = to.condition_ranks.size();
    row.ranks_count = condition.ranks.size();
    for (const std::int32_t rank : condition.ranks) to.condition_ranks.push_back({rank});
    to.conditions.push_back(std::move(row));
  }
}

void put(const FoundMachines& found, SnapshotRows& to) {
  for (std::size_t m = 0; m < found.machines.size(); ++m)
    for (const HardwareThread& thread : found.machines[m].threads) {
      to.machine_threads.push_back(row_of<MachineThreadRow>(thread));
      to.machine_threads.back().machine = static_cast<std::int32_t>(m);
    }
  for (const char c : found.slurm_topology) to.slurm_topology.push_back({static_cast<std::uint8_t>(c)});
  for (const std::int32_t machine : found.of_node) to.node_machines.push_back({machine});
  for (const RankBinding& binding : found.bindings) {
    BindingRow row = row_of<BindingRow>(binding);
    row.ranges_begin = to.binding_ranges.size();
    row.ranges_count = binding.ranges.size();
    to.binding_ranges.insert(to.binding_ranges.end(), binding.ranges.begin(), binding.ranges.end());
    to.bindings.push_back(std::move(row));
  }
}

// Damaged rows may name any number of machines and threads.
bool take(const SnapshotRows& from, std::size_t nodes, std::int32_t ranks, FoundMachines& found) {
  for (const MachineThreadRow& row : from.machine_threads) {
    const auto known = static_cast<std::int64_t>(found.machines.size());
    if (row.machine != known && row.machine != known - 1) return false;
    if (row.machine == known) found.machines.emplace_back();
    if (row.os < 0 || row.os >= most_hardware_threads) return false;
    found.machines.back().threads.push_back(row);
  }
  for (const TextRow& row : from.slurm_topology) found.slurm_topology += static_cast<char>(row.byte);
  for (const NodeMachineRow& row : from.node_machines) {
    const bool known = row.machine >= 0 && static_cast<std::size_t>(row.machine) < found.machines.size();
    if (found.of_node.size() < nodes) found.of_node.push_back(known ? row.machine : -1);
  }
  std::uint64_t ranges = 0;
  for (const BindingRow& row : from.bindings) {
    RankBinding binding = row;
    bool good = binding.rank >= 0 && binding.rank < ranks;
    const auto add = [&](const ThreadRange& range) {
      good = good && range.first >= (binding.ranges.empty() ? 0 : binding.ranges.back().last + 1) &&
             range.last >= range.first && range.last < most_hardware_threads;
      binding.ranges.push_back(range);
    };
    if (!each_of(row.ranges_begin, row.ranges_count, from.binding_ranges, ranges, add) || !good) return false;
    if (!found.bindings.empty() && found.bindings.back().rank >= binding.rank) return false;
    found.bindings.push_back(std::move(binding));
  }
  return true;
}

void put(const std::vector<Marker>& markers, SnapshotRows& to) {
  for (const Marker& marker : markers) {
    MarkerRow row = row_of<MarkerRow>(marker);
    copy_text(marker.name, row.marker_name);
    to.markers.push_back(std::move(row));
  }
}

void take(const SnapshotRows& from, std::vector<Marker>& markers) {
  for (const MarkerRow& row : from.markers) {
    Marker& marker = markers.emplace_back(row);
    marker.name.assign(row.marker_name.data(), ::strnlen(row.marker_name.data(), row.marker_name.size()));
  }
}

bool take(const SnapshotRows& from, std::int64_t nodes, std::vector<Condition>& conditions) {
  std::uint64_t ranks = 0;
  for (const ConditionRow& row : from.conditions) {
    Condition condition = row;
    condition.process.assign(row.process_name.data(), ::strnlen(row.process_name.data(), row.process_name.size()));
    const auto add = [&](const ConditionRankRow& rank) { condition.ranks.push_back(rank.rank); };
    if (!each_of(row.ranks_begin, row.ranks_count, from.condition_ranks, ranks, add)) return false;
    if (condition.node < 0 || condition.node >= nodes) condition.node = -1;
    if (condition.kind > ConditionKind::own_threads) continue;  // of a newer aggregator
    conditions.push_back(std::move(condition));
  }
  return true;
}

// The table `waits_for` has the ranks' lists, then those of the deadlocks' members.
void put(const std::vector<RankSummary>& ranks, const std::vector<Deadlock>& deadlocks, SnapshotRows& to) {
  for (const RankSummary& rank : ranks) {
    to.ranks.push_back(row_of<RankRow>(rank));
    put_waits(to.ranks.back(), to.waits_for);
  }
  for (const Deadlock& deadlock : deadlocks) {
    DeadlockRow row = row_of<DeadlockRow>(deadlock);
    row.members_begin = to.deadlock_members.size();
    row.members_count = deadlock.members.size();
    to.deadlocks.push_back(std::move(row));
    for (const DeadlockMember& member : deadlock.members) {
      to.deadlock_members.push_back(row_of<DeadlockMemberRow>(member));
      put_waits(to.deadlock_members.back(), to.waits_for);
    }
  }
}

bool take(const SnapshotRows& from, std::vector<RankSummary>& ranks, std::vector<Deadlock>& deadlocks) {
  std::uint64_t waits = 0, members = 0;
  for (const RankRow& row : from.ranks) {
    RankSummary& rank = ranks.emplace_back(row);
    if (!take_waits(row, from.waits_for, waits, rank.waits_for)) return false;
  }
  for (const DeadlockRow& row : from.deadlocks) {
    Deadlock deadlock = row;
    bool good = true;
    const auto add = [&](const DeadlockMemberRow& member) {
      deadlock.members.push_back(member);
      good = good && take_waits(member, from.waits_for, waits, deadlock.members.back().waits_for);
    };
    if (!each_of(row.members_begin, row.members_count, from.deadlock_members, members, add) || !good) return false;
    deadlocks.push_back(std::move(deadlock));
  }
  return true;
}

// False for what is no forest: a cluster that is not there yet, or that is part of two others.
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

// Readers use nodes and ranks as indices.
void take_places(const SnapshotRows& from, Snapshot& to) {
  Application& application = to.application;
  for (const NodeRow& node : from.nodes)
    application.nodes.emplace_back(node.name.data(), ::strnlen(node.name.data(), node.name.size()));
  for (const RankNodeRow& row : from.node_of_rank) application.node_of_rank.push_back(row.node);
  const auto count = static_cast<std::int64_t>(application.nodes.size());
  const auto unknown = [count](std::int32_t node) { return node < 0 || node >= count; };
  const auto nobody = [&](std::int32_t rank) { return rank < 0 || rank >= application.ranks; };
  for (std::int32_t& node : application.node_of_rank) node = unknown(node) ? -1 : node;
  for (RankSummary& rank : to.ranks) rank.node = unknown(rank.node) ? -1 : rank.node;
  Network& network = to.network;
  for (const DeadNodeRow& row : from.dead_nodes)
    if (!unknown(row.node)) network.dead_nodes.push_back(row.node);
  network.clocks = from.clocks;
  network.corrections = from.clock_corrections;
  network.links = from.node_links;
  to.traffic = from.traffic;
  std::erase_if(network.links, [&](const NodeLink& l) { return unknown(l.source) || unknown(l.destination); });
  std::erase_if(network.clocks, [&](const ClockState& clock) { return unknown(clock.node); });
  std::erase_if(network.corrections, [&](const ClockCorrection& c) { return unknown(c.node); });
  std::erase_if(to.traffic, [&](const PairTraffic& p) { return nobody(p.source) || nobody(p.destination); });
}

}  // namespace

SnapshotRows rows_of(const Snapshot& snapshot) {
  SnapshotRows rows;
  put(snapshot.regions, rows.regions, rows);
  put(snapshot.ended_regions, rows.ended_regions, rows);
  put(snapshot.ranks, snapshot.deadlocks, rows);
  put(snapshot.functions, rows);
  put(snapshot.delays, rows);
  put(snapshot.attribution, rows);
  rows.wait_states = snapshot.wait_states;
  put(snapshot.conditions, rows);
  put(snapshot.found, rows);
  put(snapshot.markers, rows);
  rows.links = snapshot.links;
  rows.ended_links = snapshot.ended_links;
  for (const std::int32_t leaf : snapshot.dendrogram.leaf_of_rank) rows.leaf_of_rank.push_back({leaf});
  rows.merges = snapshot.dendrogram.merges;
  rows.worst = snapshot.worst;
  rows.criteria = snapshot.criteria;
  for (const std::string& name : snapshot.application.nodes) copy_text(name, rows.nodes.emplace_back().name);
  for (const std::int32_t node : snapshot.application.node_of_rank) rows.node_of_rank.push_back({node});
  rows.site_activity = snapshot.site_activity;
  rows.clocks = snapshot.network.clocks;
  rows.clock_corrections = snapshot.network.corrections;
  for (const std::int32_t node : snapshot.network.dead_nodes) rows.dead_nodes.push_back({node});
  rows.node_links = snapshot.network.links;
  rows.traffic = snapshot.traffic;
  rows.call_density.reserve(snapshot.call_density.size());
  for (const std::uint8_t byte : snapshot.call_density) rows.call_density.push_back({byte});
  return rows;
}

bool snapshot_of(const SnapshotRows& rows, Snapshot& snapshot) {
  RegionLists read;
  bool good = take(rows, rows.regions, read, snapshot.regions);
  good = take(rows, rows.ended_regions, read, snapshot.ended_regions) && good;
  good = take(rows, snapshot.ranks, snapshot.deadlocks) && good;
  good = take(rows, snapshot.functions) && good;
  good = take(rows, snapshot.delays) && good;
  snapshot.wait_states = rows.wait_states;
  std::erase_if(snapshot.wait_states,
                [](const WaitStateSum& w) { return static_cast<std::size_t>(w.state) >= wait_states; });
  snapshot.links = rows.links;
  snapshot.ended_links = rows.ended_links;
  for (const LeafRow& row : rows.leaf_of_rank) snapshot.dendrogram.leaf_of_rank.push_back(row.leaf);
  snapshot.dendrogram.merges = rows.merges;
  if (!is_forest(snapshot.dendrogram)) snapshot.dendrogram = {};
  snapshot.worst = rows.worst;
  snapshot.criteria = rows.criteria;
  snapshot.site_activity = rows.site_activity;
  take_places(rows, snapshot);
  if (snapshot.retention.keep > Keep::all) snapshot.retention.keep = Keep::all;
  take(rows, snapshot.markers);
  snapshot.call_density.reserve(rows.call_density.size());
  for (const DensityByteRow& row : rows.call_density) snapshot.call_density.push_back(row.byte);
  const auto nodes = static_cast<std::int64_t>(snapshot.application.nodes.size());
  good = take(rows, nodes, snapshot.conditions) && good;
  good = take(rows, snapshot.application.nodes.size(), snapshot.application.ranks, snapshot.found) && good;
  return take(rows, nodes, snapshot.attribution) && good;
}

}  // namespace pclscope
