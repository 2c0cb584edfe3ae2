#include "viewer/views/activity_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "analysis/blocked/call_kind.hpp"
#include "analysis/density/coarser.hpp"
#include "analysis/density/packing.hpp"
#include "analysis/density/stack.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"
#include "viewer/views/json_rows.hpp"

namespace pclscope::views {
namespace {

using session::Json;

constexpr std::size_t activity_columns = 60;
constexpr std::size_t scale_columns = 5;                             // "100% "
constexpr double tops[] = {0.02, 0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1};  // shares of ranks at the top of a stack

struct Slice {
  std::uint64_t ns = 0, starts = 0, ends = 0;
};
using Slices = std::map<std::uint32_t, Slice>;

std::map<std::uint16_t, Slices> slices_of(const ActivityOverTime& activity) {
  std::map<std::uint16_t, Slices> slices;
  for (const CallDensity::Inside& i : activity.density.inside) slices[i.function][i.slice].ns += i.ns;
  for (const CallDensity::Calls& c : activity.density.calls) {
    Slice& slice = slices[c.function][c.slice];
    slice.starts += c.starts;
    slice.ends += c.ends;
  }
  return slices;
}

Slice sum_of(const Slices& slices) {
  Slice sum;
  for (const auto& [number, slice] : slices) {
    sum.ns += slice.ns;
    sum.starts += slice.starts;
    sum.ends += slice.ends;
  }
  return sum;
}

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

double length_of(const ActivityOverTime& activity, std::uint32_t slice) {
  const double begin_s = slice * activity.slice_s();
  return begin_s < activity.duration_s ? std::min(activity.slice_s(), activity.duration_s - begin_s)
                                       : activity.slice_s();
}

double share_of(double inside_s, const ActivityOverTime& activity, double time_s) {
  return activity.ranks > 0 && time_s > 0 ? inside_s / (activity.ranks * time_s) : 0;
}

density::Stack stack_over(const ActivityOverTime& activity, std::span<const std::uint16_t> functions,
                          std::size_t columns) {
  density::StackQuestion question;
  question.functions = functions;
  question.ranks = activity.ranks;
  question.duration_s = activity.duration_s;
  question.end_s = activity.duration_s;
  question.columns = columns;
  return density::stack_of(activity.density, question);
}

}  // namespace

double ActivityOverTime::slice_s() const { return std::ldexp(1e-9, density.inside_shift); }

ActivityOverTime activity_of(const Snapshot& snapshot, std::optional<std::int32_t> region) {
  ActivityOverTime activity;
  activity.region = region;
  activity.ranks = snapshot.application.ranks;
  activity.duration_s = snapshot.duration_s;
  std::optional<CallDensity> density = density::unpack(snapshot.call_density);
  if (!density || density->empty()) {
    activity.why_not = !density ? "the density of calls is damaged"
                       : snapshot.functions.empty()
                           ? "no MPI calls were recorded"
                           : "no density of calls: a dump of an older version, or one that had "
                             "no room for it";
    return activity;
  }
  activity.density = std::move(*density);
  while (activity.density.inside_shift < activity.density.calls_shift) density::halve_inside(activity.density);
  while (activity.density.calls_shift < activity.density.inside_shift) density::halve_calls(activity.density);
  if (!region) return activity;
  const auto found =
      std::find_if(snapshot.regions.begin(), snapshot.regions.end(), [&](const Region& r) { return r.id == *region; });
  if (found != snapshot.regions.end()) activity.ranks = static_cast<double>(found->ranks.size());
  std::erase_if(activity.density.inside, [&](const CallDensity::Inside& i) { return i.region != *region; });
  activity.density.calls.clear();
  if (activity.density.inside.empty())
    activity.why_not =
        "no calls of region " + std::to_string(*region) + " over time: the largest 16 regions are told apart";
  return activity;
}

std::vector<std::string> activity_lines(const ActivityOverTime& activity, std::size_t width, bool ascii) {
  if (!activity.why_not.empty()) return {activity.why_not};
  const auto slices = slices_of(activity);
  const auto functions = density::functions_by_time(activity.density);
  text::Table table;
  table.column("function", text::Align::left);
  for (const char* title : {"calls", "inside", "share"}) {
    if (activity.region && std::string_view(title) == "calls") continue;
    table.column(title, text::Align::right);
  }
  table.column("over time, of all ranks", text::Align::left);
  const density::Stack stack = stack_over(activity, functions, activity_columns);
  float most = 0;
  for (const auto& layer : stack.shares)
    for (const float share : layer) most = std::max(most, share);
  const std::vector<std::uint32_t> weights(activity_columns, 1);
  std::uint64_t calls = 0, ns = 0;
  for (std::size_t i = 0; i < functions.size(); ++i) {
    const Slice sum = sum_of(slices.at(functions[i]));
    calls += sum.ends;
    ns += sum.ns;
    const std::string about = blocked::call_kind(functions[i]) == blocked::CallKind::polling ? "~" : "";
    std::vector<std::string> cells{function_name(functions[i])};
    if (!activity.region) cells.push_back(text::format_count(sum.ends));
    cells.push_back(about + text::format_seconds(seconds(sum.ns)));
    cells.push_back(text::format_share(std::min(1.0, share_of(seconds(sum.ns), activity, activity.duration_s))));
    cells.push_back(text::sparkline(stack.shares[i], weights, activity_columns, most, ascii));
    table.row(std::move(cells));
  }
  std::vector<std::string> lines = table.lines(width);
  const double share = share_of(seconds(ns), activity, activity.duration_s);
  lines.push_back("inside MPI " + text::format_seconds(seconds(ns)) + " of ranks' time, " +
                  text::format_share(std::min(1.0, share)) + ", without MPI_Init and MPI_Finalize" +
                  (activity.region ? std::string() : "; " + text::format_count(calls) + " calls that returned") +
                  "; slices of " + text::format_seconds(activity.slice_s()) + ", a full column is " +
                  text::format_share(std::min(1.0, static_cast<double>(most))) + " of the ranks");
  return lines;
}

Json activity_json(const ActivityOverTime& activity) {
  Json functions = Json::array();
  const auto slices = slices_of(activity);
  for (const std::uint16_t number : density::functions_by_time(activity.density)) {
    const Slices& of = slices.at(number);
    const Slice sum = sum_of(of);
    Json list = Json::array();
    for (const auto& [slice, part] : of) {
      Json& entry = list.emplace_back();
      entry = {{"begin_s", slice * activity.slice_s()},
               {"inside_s", seconds(part.ns)},
               {"share", session::finite(share_of(seconds(part.ns), activity, length_of(activity, slice)))}};
      if (!activity.region) entry.update({{"starts", part.starts}, {"ends", part.ends}});
    }
    Json& function = functions.emplace_back();
    function = {{"function", function_name(number)},
                {"inside_s", seconds(sum.ns)},
                {"share", session::finite(share_of(seconds(sum.ns), activity, activity.duration_s))}};
    if (!activity.region) function["calls"] = sum.ends;
    function["slices"] = std::move(list);
  }
  return {{"slice_s", activity.slice_s()},
          {"region", activity.region ? Json(*activity.region) : Json(nullptr)},
          {"ranks", activity.ranks},
          {"functions", std::move(functions)}};
}

Rows activity_rows(const ActivityOverTime& activity) {
  std::vector<Json> objects;
  const Json json = activity_json(activity);
  for (const Json& function : json["functions"]) {
    for (const Json& slice : function["slices"]) {
      Json row = {{"function", function["function"]}, {"length_s", activity.slice_s()}};
      row.update(slice);
      objects.push_back(std::move(row));
    }
  }
  Json example = {{"function", ""}, {"begin_s", 0.0}, {"length_s", 0.0}, {"inside_s", 0.0}, {"share", 0.0}};
  if (!activity.region) example.update({{"starts", 0}, {"ends", 0}});
  return rows_of(objects, example);
}

std::vector<std::string> stack_lines(const ActivityOverTime& activity, std::size_t width, std::size_t rows) {
  if (!activity.why_not.empty()) return {activity.why_not};
  std::vector<std::uint16_t> functions = density::functions_by_time(activity.density);
  std::map<std::uint16_t, Slice> sums;
  for (const auto& [function, slices] : slices_of(activity)) sums[function] = sum_of(slices);
  const std::size_t all = functions.size();
  if (functions.size() > density::named_functions) functions.resize(density::named_functions);
  width = std::max(width, scale_columns + 10);
  rows = std::max<std::size_t>(rows, 2);
  const std::size_t columns = std::min<std::size_t>(width - scale_columns, 200);
  const density::Stack stack = stack_over(activity, functions, columns);
  const auto letter = [&](std::size_t layer) {
    return layer < functions.size() ? static_cast<char>('A' + layer) : '+';
  };
  double highest = 0;
  for (std::size_t column = 0; column < columns; ++column)
    highest = std::max(highest, static_cast<double>(stack.height(column)));
  const double* const top_of = std::lower_bound(std::begin(tops), std::end(tops) - 1, highest);
  const double full = *top_of;
  // What covers the middle of a cell.
  const auto at = [&](std::size_t column, double height) {
    double top = 0;
    for (std::size_t layer = 0; layer < stack.shares.size(); ++layer) {
      top += static_cast<double>(stack.shares[layer][column]);
      if (height < top) return letter(layer);
    }
    return ' ';
  };
  std::vector<std::string> lines;
  for (std::size_t row = rows; row-- > 0;) {
    const double level = (static_cast<double>(row) + (row + 1 == rows)) / static_cast<double>(rows);
    const bool labelled = row + 1 == rows || row == rows / 2;
    std::string line = labelled ? text::format_share(level * full) : "";
    line.resize(scale_columns - 1, ' ');
    line += '|';
    for (std::size_t column = 0; column < columns; ++column)
      line += at(column, (static_cast<double>(row) + 0.5) / static_cast<double>(rows) * full);
    lines.push_back(std::move(line));
  }
  const std::string end = text::format_moment(activity.duration_s);
  std::string axis(scale_columns, ' ');
  axis += "0";
  const std::size_t from = scale_columns + columns - std::min(columns, end.size());
  axis.resize(std::max(axis.size() + 1, from), '-');
  lines.push_back(axis + end);
  std::uint64_t inside = 0, others = 0;
  for (const auto& [function, sum] : sums) inside += sum.ns;
  const auto share = [&](std::uint64_t ns) {
    return text::format_share(std::min(1.0, share_of(seconds(ns), activity, activity.duration_s)));
  };
  for (std::size_t i = 0; i < functions.size(); ++i)
    lines.push_back(std::string(1, letter(i)) + "  " + function_name(functions[i]) + "  " +
                    share(sums[functions[i]].ns));
  for (const auto& [function, sum] : sums)
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) others += sum.ns;
  if (all > functions.size())
    lines.push_back("+  " + std::to_string(all - functions.size()) + " others  " + share(others));
  const auto time_ns = static_cast<std::uint64_t>(std::max(0.0, activity.ranks * activity.duration_s * 1e9));
  lines.push_back("   outside: computation, MPI_Init, MPI_Finalize  " + share(time_ns - std::min(time_ns, inside)));
  return lines;
}

}  // namespace pclscope::views
