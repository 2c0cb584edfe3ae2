#include "analysis/store/summary.hpp"

#include <cstring>

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

struct FlatRegions {
  std::vector<RegionRow> regions;
  std::vector<RegionRankRow> ranks;
  std::vector<RegionHistoryRow> history;
};

FlatRegions flatten(const std::vector<Region>& regions) {
  FlatRegions flat;
  for (const Region& region : regions) {
    const std::size_t windows = std::min(region.history_ratio.size(), region.history_messages.size());
    RegionRow row;
    row.id = region.id;
    row.messages = region.messages;
    row.bytes = region.bytes;
    row.delayed = region.delayed;
    row.mean_latency_ratio = region.mean_latency_ratio;
    row.delayed_share = region.delayed_share;
    row.late_sender_s = region.late_sender_s;
    row.late_receiver_s = region.late_receiver_s;
    row.transfer_s = region.transfer_s;
    row.ranks_begin = flat.ranks.size();
    row.ranks_count = region.ranks.size();
    row.history_begin = flat.history.size();
    row.history_count = windows;
    flat.regions.push_back(row);
    for (const std::int32_t rank : region.ranks) flat.ranks.push_back({rank});
    for (std::size_t i = 0; i < windows; i++) {
      flat.history.push_back({region.history_ratio[i], region.history_messages[i]});
    }
  }
  return flat;
}

// [begin, begin + count) lies inside `rows`.
bool inside(std::uint64_t begin, std::uint64_t count, std::size_t rows) {
  return begin <= rows && count <= rows - begin;
}

bool unflatten(const FlatRegions& flat, std::vector<Region>& regions) {
  std::uint64_t ranks = 0, windows = 0;
  for (const RegionRow& row : flat.regions) {
    // Each list entry belongs to one region: a damaged file cannot make us copy them again and again.
    if (!inside(row.ranks_begin, row.ranks_count, flat.ranks.size()) || row.ranks_begin != ranks) return false;
    if (!inside(row.history_begin, row.history_count, flat.history.size()) || row.history_begin != windows)
      return false;
    ranks += row.ranks_count;
    windows += row.history_count;
    Region region = row;
    for (std::uint64_t i = 0; i < row.ranks_count; i++) region.ranks.push_back(flat.ranks[row.ranks_begin + i].rank);
    for (std::uint64_t i = 0; i < row.history_count; i++) {
      region.history_ratio.push_back(flat.history[row.history_begin + i].ratio);
      region.history_messages.push_back(flat.history[row.history_begin + i].messages);
    }
    regions.push_back(std::move(region));
  }
  return true;
}

NodeRow node_row(const std::string& name) {
  NodeRow row;
  std::memcpy(row.name.data(), name.data(), std::min(name.size(), row.name.size()));
  return row;
}

}  // namespace

bool SummaryWriter::create(hid_t parent, const char* name) {
  group_ = create_group(parent, name);
  if (!group_) return false;
  const Snapshot empty;
  bool good = true;
  describe_values(
      [&]<class T>(const char* value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && create_number(group_.get(), value, static_cast<Type>(from));
      },
      empty);
  const hid_t group = group_.get();
  return good && regions_.create(group, "regions", 64) && region_ranks_.create(group, "region_ranks", 1024) &&
         region_history_.create(group, "region_history", 1024) && worst_.create(group, "worst", 32) &&
         ranks_.create(group, "ranks", 256) && criteria_.create(group, "criteria", 64) &&
         nodes_.create(group, "nodes", 16) && node_of_rank_.create(group, "node_of_rank", 1024);
}

bool SummaryWriter::write(const Snapshot& snapshot) {
  bool good = true;
  describe_values(
      [&]<class T>(const char* value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && write_number(group_.get(), value, static_cast<Type>(from));
      },
      snapshot);
  const FlatRegions flat = flatten(snapshot.regions);
  std::vector<NodeRow> nodes;
  for (const std::string& name : snapshot.application.nodes) nodes.push_back(node_row(name));
  std::vector<RankNodeRow> node_of_rank;
  for (const std::int32_t node : snapshot.application.node_of_rank) node_of_rank.push_back({node});
  return good && replace(regions_, flat.regions) && replace(region_ranks_, flat.ranks) &&
         replace(region_history_, flat.history) && replace(worst_, snapshot.worst) &&
         replace(ranks_, snapshot.ranks) && replace(criteria_, snapshot.criteria) && replace(nodes_, nodes) &&
         replace(node_of_rank_, node_of_rank);
}

bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot) {
  const Hdf5Handle group = own_group(H5Gopen2(parent, name, H5P_DEFAULT));
  if (!group) return false;
  describe_values(
      [&]<class T>(const char* value, T& to) {
        typename Stored<T>::Type stored{};
        if (read_number(group.get(), value, stored)) to = static_cast<T>(stored);
      },
      snapshot);
  FlatRegions flat;
  bool good = read_all(group.get(), "regions", most_rows, flat.regions);
  good = read_all(group.get(), "region_ranks", most_rows, flat.ranks) && good;
  good = read_all(group.get(), "region_history", most_rows, flat.history) && good;
  good = good && unflatten(flat, snapshot.regions);
  good = read_all(group.get(), "worst", most_rows, snapshot.worst) && good;
  good = read_all(group.get(), "ranks", most_rows, snapshot.ranks) && good;
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
  return good;
}

}  // namespace pclscope::store
