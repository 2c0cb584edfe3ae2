#include "viewer/views/duration_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/density/bins.hpp"
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

// Where bin `bin` begins; the first one holds what is shorter, too.
double bin_s(const CallDurations& durations, unsigned bin) {
  return bin == 0 ? 0 : density::begin_ns(bin, durations.density.bins_per_octave) * 1e-9;
}

std::map<std::uint16_t, std::map<std::uint16_t, std::uint64_t>> calls_by_bin(const CallDensity& density) {
  std::map<std::uint16_t, std::map<std::uint16_t, std::uint64_t>> calls;  // that ended
  for (const CallDensity::Calls& c : density.calls)
    if (c.ends > 0) calls[c.function][c.bin] += c.ends;
  return calls;
}

// The bin in which `share` of them is reached.
std::uint16_t reached(const std::map<std::uint16_t, std::uint64_t>& bins, std::uint64_t all, double share) {
  std::uint64_t sum = 0;
  for (const auto& [bin, calls] : bins)
    if (static_cast<double>(sum += calls) >= share * static_cast<double>(all)) return bin;
  return bins.rbegin()->first;
}

std::vector<std::uint16_t> functions_with_calls(const CallDurations& durations) {
  const auto calls = calls_by_bin(durations.density);
  std::vector<std::uint16_t> functions = density::functions_by_time(durations.density);
  std::erase_if(functions, [&](std::uint16_t f) { return !calls.contains(f); });
  return functions;
}

}  // namespace

double CallDurations::slice_s() const { return std::ldexp(1e-9, density.calls_shift); }

CallDurations durations_of(const Snapshot& snapshot) {
  CallDurations durations;
  auto density = density::unpack(snapshot.call_density);
  if (density && !density->calls.empty()) {
    durations.density = std::move(*density);
    return durations;
  }
  durations.why_not = !density                     ? "the density of calls is damaged"
                      : snapshot.functions.empty() ? "no MPI calls were recorded"
                                                   : "no density of calls: a dump of an older version, or one that had "
                                                     "no room for it";
  return durations;
}

std::vector<std::string> duration_lines(const CallDurations& durations, std::size_t width, bool ascii) {
  if (!durations.why_not.empty()) return {durations.why_not};
  const auto calls = calls_by_bin(durations.density);
  std::uint16_t first = UINT16_MAX, last = 0;
  for (const auto& [function, bins] : calls)
    first = std::min(first, bins.begin()->first), last = std::max(last, bins.rbegin()->first);
  const unsigned octave = durations.density.bins_per_octave, begin = first / octave,
                 octaves = last / octave - begin + 1;
  text::Table table;
  table.column("function", text::Align::left);
  for (const char* title : {"calls", "shortest", "median", "99 %", "longest"}) table.column(title, text::Align::right);
  table.column("by duration, " + text::format_seconds(bin_s(durations, begin * octave)) + " to " +
                   text::format_seconds(bin_s(durations, (begin + octaves) * octave)),
               text::Align::left);
  for (const std::uint16_t function : functions_with_calls(durations)) {
    const auto& bins = calls.at(function);
    std::uint64_t all = 0;
    std::vector<float> by_octave(octaves, 0);
    for (const auto& [bin, count] : bins) {
      all += count;
      by_octave[bin / octave - begin] += static_cast<float>(count);
    }
    for (float& count : by_octave) count /= static_cast<float>(all);
    std::vector<std::string> cells{function_name(function), text::format_count(all)};
    for (const double share : {0.0, 0.5, 0.99, 1.0})
      cells.push_back(text::format_seconds(bin_s(durations, reached(bins, all, share))));
    const std::vector<std::uint32_t> weights(octaves, 1);
    cells.push_back(text::sparkline(by_octave, weights, octaves, 1, ascii));
    table.row(std::move(cells));
  }
  std::vector<std::string> lines = table.lines(width);
  lines.push_back("calls that returned; durations are where their bin begins, " + std::to_string(octave) +
                  " bins to a doubling; the last column has a step per doubling");
  return lines;
}

Json durations_json(const CallDurations& durations) {
  std::map<std::uint16_t, Json> bins;
  std::map<std::uint16_t, std::uint64_t> calls;
  for (const CallDensity::Calls& c : durations.density.calls) {
    Json& list = bins.try_emplace(c.function, Json::array()).first->second;
    list.push_back({{"begin_s", c.slice * durations.slice_s()},
                    {"from_s", bin_s(durations, c.bin)},
                    {"to_s", bin_s(durations, c.bin + 1u)},
                    {"starts", c.starts},
                    {"ends", c.ends}});
    calls[c.function] += c.ends;
  }
  Json functions = Json::array();
  for (const std::uint16_t number : functions_with_calls(durations))
    functions.push_back(
        {{"function", function_name(number)}, {"calls", calls[number]}, {"bins", std::move(bins[number])}});
  return {{"slice_s", durations.slice_s()},
          {"bins_per_octave", durations.density.bins_per_octave},
          {"functions", std::move(functions)}};
}

Rows duration_rows(const CallDurations& durations) {
  std::vector<Json> objects;
  const Json json = durations_json(durations);
  for (const Json& function : json["functions"]) {
    for (const Json& bin : function["bins"]) {
      Json row = {{"function", function["function"]}, {"length_s", durations.slice_s()}};
      row.update(bin);
      objects.push_back(std::move(row));
    }
  }
  const Json example = {{"function", ""}, {"begin_s", 0.0}, {"length_s", 0.0}, {"from_s", 0.0},
                        {"to_s", 0.0},    {"starts", 0},    {"ends", 0}};
  return rows_of(objects, example);
}

}  // namespace pclscope::views
