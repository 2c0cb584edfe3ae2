#include "analysis/store/summary.hpp"

#include <cstring>

#include "analysis/store/flatten.hpp"

namespace pclscope::store {
namespace {

template <class Row>
bool replace(TableWriter<Row>& table, const std::vector<Row>& rows) {
  return table.write(0, rows) && table.set_rows(rows.size());
}

template <class Row>
bool read_all(hid_t parent, const char* name, std::uint64_t most_rows, std::vector<Row>& rows) {
  TableReader<Row> table;
  if (!table.open(parent, name)) return false;
  table.limit(most_rows);
  return table.read(0, table.rows(), rows);
}

// A table that an older file does not have is empty.
template <class Row>
bool read_newer(hid_t parent, const char* name, std::uint64_t most_rows, std::vector<Row>& rows) {
  return H5Lexists(parent, name, H5P_DEFAULT) <= 0 || read_all(parent, name, most_rows, rows);
}

constexpr std::size_t method_capacity = 32;

NodeRow node_row(const std::string& name) {
  NodeRow row;
  std::memcpy(row.name.data(), name.data(), std::min(name.size(), row.name.size()));
  return row;
}

FlatSummary flat_of(const Snapshot& snapshot) {
  FlatSummary flat{flatten(snapshot.regions),
                   flatten(snapshot.ranks, snapshot.deadlocks),
                   flatten(snapshot.functions),
                   flatten(snapshot.delays),
                   {},
                   {},
                   {},
                   snapshot.dendrogram.merges,
                   snapshot.links,
                   snapshot.worst,
                   snapshot.criteria,
                   snapshot.site_activity,
                   snapshot.network.clocks,
                   snapshot.network.corrections,
                   {},
                   {},
                   flatten(snapshot.attribution),
                   snapshot.traffic};
  flat.node_links = snapshot.network.links;
  for (const std::int32_t node : snapshot.network.dead_nodes) flat.dead_nodes.push_back({node});
  for (const std::string& name : snapshot.application.nodes) flat.nodes.push_back(node_row(name));
  for (const std::int32_t node : snapshot.application.node_of_rank) flat.node_of_rank.push_back({node});
  for (const std::int32_t leaf : snapshot.dendrogram.leaf_of_rank) flat.leaves.push_back({leaf});
  return flat;
}

// What can be missed: all but the application, its regions and its ranks.
void drop_lists(FlatSummary& flat) {
  for (RegionRow& region : flat.regions.regions) {
    region.history_begin = region.history_count = region.periods_begin = region.periods_count = 0;
  }
  flat.regions.history.clear();
  flat.regions.periods.clear();
  flat.functions = {};
  flat.delays = {};
  flat.leaves.clear();
  flat.merges.clear();
  flat.links.clear();
  flat.worst.clear();
  flat.criteria.clear();
  flat.site_activity.clear();
  flat.corrections.clear();
  flat.node_links.clear();
  flat.attribution.slices.clear();
  flat.attribution.lines.clear();
  flat.attribution.values.clear();
  flat.traffic.clear();
}

// Older files have none, and a damaged one must not lead anybody astray.
void read_dendrogram(hid_t group, std::uint64_t most_rows, Dendrogram& dendrogram) {
  std::vector<LeafRow> leaves;
  bool good = read_text(group, "method", dendrogram.method);
  good = good && read_newer(group, "leaf_of_rank", most_rows, leaves) &&
         read_newer(group, "merges", most_rows, dendrogram.merges);
  for (const LeafRow& row : leaves) dendrogram.leaf_of_rank.push_back(row.leaf);
  if (!good || !is_forest(dendrogram)) dendrogram = {};
}

}  // namespace

// All tables of a copy, in the order in which they lie in the file: `visit(table, its rows in flat, name, rows per
// chunk)`.
template <class Visit, class Flat>
void SummaryWriter::each_table(Visit&& visit, Flat& flat) {
  visit(regions_, flat.regions.regions, "regions", 32);
  visit(region_ranks_, flat.regions.ranks, "region_ranks", 512);
  visit(region_history_, flat.regions.history, "region_history", 512);
  visit(region_periods_, flat.regions.periods, "region_periods", 64);
  visit(links_, flat.links, "links", 64);
  visit(leaf_of_rank_, flat.leaves, "leaf_of_rank", 512);
  visit(merges_, flat.merges, "merges", 512);
  visit(worst_, flat.worst, "worst", 32);
  visit(ranks_, flat.waits.ranks, "ranks", 64);
  visit(criteria_, flat.criteria, "criteria", 64);
  visit(nodes_, flat.nodes, "nodes", 16);
  visit(node_of_rank_, flat.node_of_rank, "node_of_rank", 512);
  visit(functions_, flat.functions.functions, "functions", 32);
  visit(function_history_, flat.functions.history, "function_history", 1024);
  visit(deadlocks_, flat.waits.deadlocks, "deadlocks", 16);
  visit(deadlock_members_, flat.waits.members, "deadlock_members", 32);
  visit(waits_for_, flat.waits.waits, "waits_for", 128);
  visit(site_activity_, flat.site_activity, "site_activity", 64);
  visit(delays_, flat.delays.delays, "delays", 32);
  visit(delay_victims_, flat.delays.victims, "delay_victims", 256);
  visit(clocks_, flat.clocks, "clocks", 16);
  visit(corrections_, flat.corrections, "clock_corrections", 64);
  visit(dead_nodes_, flat.dead_nodes, "dead_nodes", 16);
  visit(node_links_, flat.node_links, "node_links", 32);
  visit(findings_, flat.attribution.findings, "findings", 16);
  visit(finding_ranks_, flat.attribution.ranks, "finding_ranks", 64);
  visit(finding_nodes_, flat.attribution.nodes, "finding_nodes", 32);
  visit(finding_texts_, flat.attribution.texts, "finding_texts", 2048);
  visit(slices_, flat.attribution.slices, "attribution_slices", 64);
  visit(transfer_lines_, flat.attribution.lines, "transfer_lines", 16);
  visit(transfer_values_, flat.attribution.values, "transfer_values", 512);
  visit(traffic_, flat.traffic, "traffic", 256);
}

bool SummaryWriter::create(hid_t parent, const char* name) {
  group_ = create_group(parent, name);
  if (!group_) return false;
  const Snapshot empty;
  bool good = create_text(group_.get(), "method", "", method_capacity);
  describe_values(
      [&]<class T>(const char* value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && create_number(group_.get(), value, static_cast<Type>(from));
      },
      empty);
  const FlatSummary nothing;
  each_table(
      [&](auto& table, const auto&, const char* table_name, std::uint64_t rows_per_chunk) {
        good = good && table.create(group_.get(), table_name, rows_per_chunk);
      },
      nothing);
  return good;
}

std::uint64_t SummaryWriter::growth(const FlatSummary& flat) {
  std::uint64_t bytes = 0;
  each_table([&](auto& table, const auto& rows, const char*, std::uint64_t) { bytes += table.growth(rows.size()); },
             flat);
  return bytes;
}

bool SummaryWriter::write(const Snapshot& snapshot, std::uint64_t room) {
  bool good = write_text(group_.get(), "method", snapshot.dendrogram.method);
  describe_values(
      [&]<class T>(const char* value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && write_number(group_.get(), value, static_cast<Type>(from));
      },
      snapshot);
  FlatSummary flat = flat_of(snapshot);
  if (growth(flat) > room) drop_lists(flat);
  if (growth(flat) > room) flat = {};
  each_table([&](auto& table, const auto& rows, const char*, std::uint64_t) { good = good && replace(table, rows); },
             flat);
  return good;
}

// What older files lack; the reader of `ranks` comes along, since their lists lie here too.
static bool read_calls(hid_t group, std::uint64_t most_rows, Snapshot& snapshot) {
  FlatWaits waits;
  bool good = read_all(group, "ranks", most_rows, waits.ranks);
  good = read_newer(group, "waits_for", most_rows, waits.waits) && good;
  good = read_newer(group, "deadlocks", most_rows, waits.deadlocks) && good;
  good = read_newer(group, "deadlock_members", most_rows, waits.members) && good;
  FlatFunctions functions;
  good = read_newer(group, "functions", most_rows, functions.functions) && good;
  good = read_newer(group, "function_history", most_rows, functions.history) && good;
  good = read_newer(group, "site_activity", most_rows, snapshot.site_activity) && good;
  FlatDelays delays;
  good = read_newer(group, "delays", most_rows, delays.delays) && good;
  good = read_newer(group, "delay_victims", most_rows, delays.victims) && good;
  good = good && unflatten(delays, snapshot.delays);
  return good && unflatten(waits, snapshot.ranks, snapshot.deadlocks) && unflatten(functions, snapshot.functions);
}

// What files of jobs on several nodes have; after the nodes.
static bool read_network(hid_t group, std::uint64_t most_rows, Snapshot& snapshot) {
  Network& network = snapshot.network;
  std::vector<DeadNodeRow> dead;
  bool good = read_newer(group, "clocks", most_rows, network.clocks);
  good = read_newer(group, "clock_corrections", most_rows, network.corrections) && good;
  good = read_newer(group, "dead_nodes", most_rows, dead) && good;
  good = read_newer(group, "node_links", most_rows, network.links) && good;
  for (const DeadNodeRow& row : dead) network.dead_nodes.push_back(row.node);
  const auto count = static_cast<std::int64_t>(snapshot.application.nodes.size());
  const auto nowhere = [count](std::int32_t node) { return node < 0 || node >= count; };
  std::erase_if(network.dead_nodes, nowhere);
  std::erase_if(network.links, [&](const NodeLink& l) { return nowhere(l.source) || nowhere(l.destination); });
  std::erase_if(network.clocks, [&](const ClockState& clock) { return nowhere(clock.node); });
  std::erase_if(network.corrections, [&](const ClockCorrection& c) { return nowhere(c.node); });
  return good;
}

// Of version 2.2; after the nodes.
static bool read_attribution(hid_t group, std::uint64_t most_rows, Snapshot& snapshot) {
  FlatAttribution flat;
  bool good = read_newer(group, "findings", most_rows, flat.findings);
  good = read_newer(group, "finding_ranks", most_rows, flat.ranks) && good;
  good = read_newer(group, "finding_nodes", most_rows, flat.nodes) && good;
  good = read_newer(group, "finding_texts", most_rows, flat.texts) && good;
  good = read_newer(group, "attribution_slices", most_rows, flat.slices) && good;
  good = read_newer(group, "transfer_lines", most_rows, flat.lines) && good;
  good = read_newer(group, "transfer_values", most_rows, flat.values) && good;
  good = read_newer(group, "traffic", most_rows, snapshot.traffic) && good;
  const auto nobody = [&](std::int32_t rank) { return rank < 0 || rank >= snapshot.application.ranks; };
  std::erase_if(snapshot.traffic, [&](const PairTraffic& p) { return nobody(p.source) || nobody(p.destination); });
  return good && unflatten(flat, static_cast<std::int64_t>(snapshot.application.nodes.size()), snapshot.attribution);
}

bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot) {
  const Hdf5Handle group = own_group(H5Gopen2(parent, name, H5P_DEFAULT));
  if (!group) return false;
  describe_values(
      [&]<class T>(const char* value, T& to) {
        typename Stored<T>::Type stored{};
        if (read_number(group.get(), value, stored)) to = from_file<T>(stored);
      },
      snapshot);
  if (snapshot.retention.keep > Keep::all) snapshot.retention.keep = Keep::all;
  FlatRegions flat;
  bool good = read_all(group.get(), "regions", most_rows, flat.regions);
  good = read_all(group.get(), "region_ranks", most_rows, flat.ranks) && good;
  good = read_all(group.get(), "region_history", most_rows, flat.history) && good;
  good = read_newer(group.get(), "region_periods", most_rows, flat.periods) && good;
  good = good && unflatten(flat, snapshot.regions);
  good = read_newer(group.get(), "links", most_rows, snapshot.links) && good;
  read_dendrogram(group.get(), most_rows, snapshot.dendrogram);
  good = read_all(group.get(), "worst", most_rows, snapshot.worst) && good;
  good = read_calls(group.get(), most_rows, snapshot) && good;
  good = read_all(group.get(), "criteria", most_rows, snapshot.criteria) && good;
  std::vector<NodeRow> nodes;
  good = read_all(group.get(), "nodes", most_rows, nodes) && good;
  for (const NodeRow& node : nodes) {
    snapshot.application.nodes.emplace_back(node.name.data(), ::strnlen(node.name.data(), node.name.size()));
  }
  std::vector<RankNodeRow> node_of_rank;
  good = read_all(group.get(), "node_of_rank", most_rows, node_of_rank) && good;
  for (const RankNodeRow& row : node_of_rank) snapshot.application.node_of_rank.push_back(row.node);
  const auto count = static_cast<std::int64_t>(snapshot.application.nodes.size());
  const auto mend = [count](std::int32_t& node) {  // readers use it as an index
    if (node < -1 || node >= count) node = -1;
  };
  for (std::int32_t& node : snapshot.application.node_of_rank) mend(node);
  for (RankSummary& rank : snapshot.ranks) mend(rank.node);
  good = read_network(group.get(), most_rows, snapshot) && good;
  return read_attribution(group.get(), most_rows, snapshot) && good;
}

}  // namespace pclscope::store
