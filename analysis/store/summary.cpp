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
         nodes_.create(group, "nodes", 16) && node_of_rank_.create(group, "node_of_rank", 1024) &&
         functions_.create(group, "functions", 64) && function_history_.create(group, "function_history", 2048) &&
         deadlocks_.create(group, "deadlocks", 16) && deadlock_members_.create(group, "deadlock_members", 64) &&
         waits_for_.create(group, "waits_for", 512) && site_activity_.create(group, "site_activity", 128);
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
  const FlatWaits waits = flatten(snapshot.ranks, snapshot.deadlocks);
  const FlatFunctions functions = flatten(snapshot.functions);
  std::vector<NodeRow> nodes;
  for (const std::string& name : snapshot.application.nodes) nodes.push_back(node_row(name));
  std::vector<RankNodeRow> node_of_rank;
  for (const std::int32_t node : snapshot.application.node_of_rank) node_of_rank.push_back({node});
  return good && replace(regions_, flat.regions) && replace(region_ranks_, flat.ranks) &&
         replace(region_history_, flat.history) && replace(worst_, snapshot.worst) &&
         replace(criteria_, snapshot.criteria) && replace(nodes_, nodes) && replace(node_of_rank_, node_of_rank) &&
         replace(ranks_, waits.ranks) && replace(waits_for_, waits.waits) && replace(deadlocks_, waits.deadlocks) &&
         replace(deadlock_members_, waits.members) && replace(functions_, functions.functions) &&
         replace(function_history_, functions.history) && replace(site_activity_, snapshot.site_activity);
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
  return good && unflatten(waits, snapshot.ranks, snapshot.deadlocks) && unflatten(functions, snapshot.functions);
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
  return good;
}

}  // namespace pclscope::store
