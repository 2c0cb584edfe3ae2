#include "viewer/views/collective_rows.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/values/wait_state.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;
using text::Align;

}  // namespace

bool CollectiveSums::Sum::is_new(const CollectiveCall& call) {
  constexpr std::size_t most = 1 << 20;  // then the older ones are forgotten
  const std::pair operation(call.comm, call.ordinal);
  if (newer.contains(operation)) return false;
  const bool known = older.contains(operation);
  newer.insert(operation);
  if (newer.size() >= most) {
    older = std::move(newer);
    newer.clear();
  }
  return !known;
}

void CollectiveSums::add(const CollectiveCall& call) {
  if (group_of(call) != WaitGroup::collective) return;
  Sum& sum = sums_[call.function];
  sum.row.function = call.function;
  ++sum.row.calls;
  if (call.nonblocking) ++sum.row.nonblocking;
  if (sum.is_new(call)) ++sum.row.operations;
  const double wait_s = static_cast<double>(call.wait()) / 1e9;
  if (!(wait_s > 0)) return;
  sum.row.wait_s += wait_s;
  sum.row.worst_s = std::max(sum.row.worst_s, wait_s);
  sum.awaited_s[call.awaited] += wait_s;
}

std::vector<CollectiveRow> CollectiveSums::rows() const {
  std::vector<CollectiveRow> rows;
  for (const auto& [function, sum] : sums_) {
    CollectiveRow& row = rows.emplace_back(sum.row);
    for (const auto& [rank, waited_s] : sum.awaited_s) {
      if (waited_s <= row.awaited_s) continue;
      row.awaited_rank = rank;
      row.awaited_s = waited_s;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CollectiveRow& a, const CollectiveRow& b) { return a.wait_s > b.wait_s; });
  return rows;
}

Json collective_json(const CollectiveRow& row) {
  return {{"function", function_name(row.function)},
          {"operations", row.operations},
          {"calls", row.calls},
          {"nonblocking", row.nonblocking},
          {"wait_s", session::finite(row.wait_s)},
          {"worst_s", session::finite(row.worst_s)},
          {"awaited_rank", row.awaited_rank >= 0 ? Json(row.awaited_rank) : Json(nullptr)},
          {"awaited_s", session::finite(row.awaited_s)}};
}

Rows collective_rows(const std::vector<CollectiveRow>& rows) {
  std::vector<Json> objects;
  for (const CollectiveRow& row : rows) objects.push_back(collective_json(row));
  return rows_of(objects, collective_json({}));
}

std::vector<std::string> collective_lines(const CollectiveTotals& totals, const std::vector<CollectiveRow>& rows,
                                          std::size_t width) {
  std::vector<std::string> lines = {"whole run: " + text::format_count(totals.operations) +
                                    (totals.operations == 1 ? " operation, " : " operations, ") +
                                    text::format_count(totals.calls) + " calls, waited " +
                                    text::format_seconds(totals.wait_s)};
  if (rows.empty()) return lines;
  text::Table table;
  table.column("function", Align::left);
  for (const char* title : {"operations", "calls", "waited", "worst", "awaited most"})
    table.column(title, Align::right);
  for (const CollectiveRow& r : rows) {
    table.row({function_name(r.function), text::format_count(r.operations), text::format_count(r.calls),
               text::format_seconds(r.wait_s), text::format_seconds(r.worst_s),
               r.awaited_rank < 0
                   ? "-"
                   : "rank " + std::to_string(r.awaited_rank) + ", " + text::format_seconds(r.awaited_s)});
  }
  for (std::string& line : table.lines(width)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace pclscope::views
