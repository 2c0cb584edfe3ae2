#include "analysis/wire/snapshot_frame.hpp"

#include <algorithm>
#include <string>

#include "analysis/rows/snapshot_rows.hpp"
#include "analysis/rows/summary_values.hpp"

namespace pclscope::wire {
namespace {

constexpr char values_table[] = "values";
constexpr char sites_table[] = "sites";
constexpr char traffic_table[] = "traffic";

// Calls text(name, member) for what is a text.
template <class Text, class AnySnapshot>
void describe_texts(Text&& text, AnySnapshot& snapshot) {
  text("job", snapshot.job);
  text("command", snapshot.application.command);
  text("mpi", snapshot.application.mpi);
}

Offset<fb::RowTable> encode_values(Builder& to, const Snapshot& value) {
  TableEncoder table(to);
  describe_texts([&](const char* name, const std::string& text) { table.add(name, std::vector<std::string>{text}); },
                 value);
  describe_values([&]<class T>(const ValueInfo& info,
                               const T& member) { table.add(info.full_name().c_str(), std::vector{as_sent(member)}); },
                  value);
  return table.finish(values_table, 1);
}

void decode_values(const fb::RowTable& from, Snapshot& to, Budget& budget) {
  const auto take = [&]<class T>(const char* name, T& member) {
    const fb::Column* column = budget.exceeded() ? nullptr : find_column(from, name);
    if (column) take_column<T>(*column, 1, budget, [&](std::uint64_t) -> T& { return member; });
  };
  describe_texts(take, to);
  describe_values([&](const ValueInfo& info, auto& member) { take(info.full_name().c_str(), member); }, to);
  to.application.ranks = std::max(to.application.ranks, 0);
  to.application.aggregators = std::max(to.application.aggregators, 0);
}

}  // namespace

Offset<fb::Snapshot> encode(Builder& to, const Snapshot& value) {
  std::vector<Offset<fb::RowTable>> tables{encode_values(to, value), encode_table(to, sites_table, value.sites)};
  const SnapshotRows rows = rows_of(value);
  each_table(
      [&](const TableInfo& info, const auto& some) {
        if (info.live && !some.empty()) tables.push_back(encode_table(to, info.name, some));
      },
      rows);
  return fb::CreateSnapshot(to, to.CreateVector(tables));
}

Snapshot decode(const fb::Snapshot& from, Budget& budget) {
  Snapshot to;
  const auto* tables = from.tables();
  if (const fb::RowTable* values = find_table(tables, values_table)) decode_values(*values, to, budget);
  decode_table(tables, sites_table, to.sites, budget);
  SnapshotRows rows;
  each_table([&](const TableInfo& info, auto& some) { decode_table(tables, info.name, some, budget); }, rows);
  if (!budget.exceeded() && !snapshot_of(rows, to)) budget.refuse();
  to.dendrogram = {};  // in dumps only
  return to;
}

Offset<fb::Traffic> encode(Builder& to, const std::vector<PairTraffic>& pairs) {
  const auto table = encode_table(to, traffic_table, pairs);
  return fb::CreateTraffic(to, to.CreateVector(&table, 1));
}

std::vector<PairTraffic> decode(const fb::Traffic& from, Budget& budget) {
  std::vector<PairTraffic> to;
  decode_table(from.tables(), traffic_table, to, budget);
  for (const PairTraffic& p : to)
    if (p.source < 0 || p.destination < 0) budget.refuse();  // readers use them as indices
  return to;
}

}  // namespace pclscope::wire
