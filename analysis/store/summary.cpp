#include "analysis/store/summary.hpp"

#include <algorithm>
#include <optional>

#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/rows/summary_values.hpp"

namespace pclscope::store {
namespace {

constexpr std::size_t method_capacity = 32;

template <class Row>
bool read_all(hid_t parent, const char* name, std::uint64_t most_rows, std::vector<Row>& rows) {
  TableReader<Row> table;
  if (!table.open(parent, name)) return false;
  table.limit(most_rows);
  return table.read(0, table.rows(), rows);
}

// What can be missed: all but the application, its regions and its ranks.
void drop_lists(SnapshotRows& rows) {
  for (std::vector<RegionRow>* regions : {&rows.regions, &rows.ended_regions})
    for (RegionRow& region : *regions)
      region.history_begin = region.history_count = region.periods_begin = region.periods_count = 0;
  each_table(
      [](const TableInfo& info, auto& some) {
        if (!info.essential) some.clear();
      },
      rows);
}

// Half of it at most; false when there is none left.
bool smaller_density(SnapshotRows& rows) {
  if (rows.call_density.empty()) return false;
  std::vector<std::uint8_t> bytes;
  for (const DensityByteRow& row : rows.call_density) bytes.push_back(row.byte);
  std::optional<CallDensity> density = density::unpack(bytes);
  const std::size_t most = bytes.size() / 2;
  rows.call_density.clear();
  if (!density) return true;
  density::fit(*density, most);
  bytes = density::pack(*density);
  if (bytes.size() <= most)
    for (const std::uint8_t byte : bytes) rows.call_density.push_back({byte});
  return true;
}

}  // namespace

bool SummaryWriter::create(const Layout& layout, hid_t parent, const char* name) {
  group_ = layout.group(parent, name);
  if (!group_) return false;
  const Snapshot empty;
  bool good = layout.text(group_.get(), "method", "", method_capacity);
  describe_values(
      [&]<class T>(const ValueInfo& value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && layout.number(group_.get(), value.full_name().c_str(), static_cast<Type>(from));
      },
      empty);
  const SnapshotRows nothing;
  each_table(
      [&]<class Row>(const TableInfo& info, const std::vector<Row>&) {
        good = good && tables_.emplace_back().create_as<Row>(layout, group_.get(), info.name, info.rows_per_chunk);
      },
      nothing);
  return good;
}

std::uint64_t SummaryWriter::growth(const SnapshotRows& rows) const {
  std::uint64_t bytes = 0;
  auto table = tables_.begin();
  each_table([&]<class Row>(const TableInfo&,
                            const std::vector<Row>& some) { bytes += (table++)->growth_as<Row>(some.size()); },
             rows);
  return bytes;
}

bool SummaryWriter::write(const Snapshot& snapshot, std::uint64_t room) {
  bool good = write_text(group_.get(), "method", snapshot.dendrogram.method);
  describe_values(
      [&]<class T>(const ValueInfo& value, const T& from) {
        using Type = typename Stored<T>::Type;
        good = good && write_number(group_.get(), value.full_name().c_str(), static_cast<Type>(from));
      },
      snapshot);
  SnapshotRows rows = rows_of(snapshot);
  while (growth(rows) > room && smaller_density(rows)) {}
  if (growth(rows) > room) drop_lists(rows);
  if (growth(rows) > room) rows = {};
  auto table = tables_.begin();
  each_table(
      [&]<class Row>(const TableInfo&, const std::vector<Row>& some) {
        good = good && table->write_as<Row>(0, some) && table->set_rows(some.size());
        ++table;
      },
      rows);
  return good;
}

bool read_summary(hid_t parent, const char* name, std::uint64_t most_rows, Snapshot& snapshot) {
  const Hdf5Handle group = own_group(H5Gopen2(parent, name, H5P_DEFAULT));
  if (!group) return false;
  bool good = true;
  describe_values(
      [&]<class T>(const ValueInfo& value, T& to) {
        const std::string attribute = value.full_name();
        typename Stored<T>::Type stored{};
        if (read_number(group.get(), attribute.c_str(), stored)) to = from_stored<T>(stored);
        else good = good && H5Aexists(group.get(), attribute.c_str()) == 0;  // an older file may be without it
      },
      snapshot);
  // Older files have no method, and a damaged dendrogram must not lead anybody astray.
  const bool has_method = read_text(group.get(), "method", snapshot.dendrogram.method);
  SnapshotRows rows;
  each_table(
      [&](const TableInfo& info, auto& some) {
        if (!info.first && H5Lexists(group.get(), info.name, H5P_DEFAULT) == 0) return;  // empty in an older file
        good = read_all(group.get(), info.name, most_rows, some) && good;
      },
      rows);
  good = snapshot_of(rows, snapshot) && good;
  if (!has_method) snapshot.dendrogram = {};
  return good;
}

}  // namespace pclscope::store
