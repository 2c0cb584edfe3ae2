#include "viewer/views/evolution_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/json_rows.hpp"
#include "viewer/views/pattern_lines.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/wait_split_text.hpp"

namespace pclscope::views {
namespace {

using session::finite;
using session::Json;
using text::Align;

constexpr std::size_t widest_history = 60, beside_history = 34;  // columns

Json window_json(const EvolutionWindow& w) {
  const RegionWindow& s = w.sums;
  const auto known = [&](const Json& value) { return w.whole ? value : Json(nullptr); };
  return {{"begin_s", finite(w.begin_s)},
          {"length_s", finite(w.length_s)},
          {"messages", s.messages},
          {"typical_ratio", finite(s.level())},
          {"mean_ratio", known(finite(s.mean_ratio))},
          {"bytes", known(s.bytes)},
          {"delayed", known(s.delayed)},
          {"mean_transfer_ratio", known(finite(s.mean_transfer_ratio))},
          {"late_sender_s", known(finite(s.late_sender_s))},
          {"late_receiver_s", known(finite(s.late_receiver_s))},
          {"transfer_s", known(finite(s.transfer_s))}};
}

std::int64_t realtime_of(std::int64_t origin_ns, double second) {
  const double ns = second * 1e9;
  if (!(std::fabs(ns) < 4e18) || !(std::fabs(static_cast<double>(origin_ns)) < 4e18)) return origin_ns;
  return origin_ns + static_cast<std::int64_t>(ns);
}

std::string history_line(const RegionEvolution& e, const PageOptions& options) {
  if (e.windows.empty()) return "";
  const double begin = e.windows.front().begin_s;
  const double end = e.windows.back().begin_s + e.windows.back().length_s;
  // A column per interval, so that silence shows as a gap; not more columns than windows have room in it.
  const std::size_t room = options.width > beside_history ? options.width - beside_history : 1;
  const std::size_t most = options.width == 0 ? widest_history : std::min(room, widest_history);
  double shortest = end - begin;
  for (const EvolutionWindow& w : e.windows) shortest = w.length_s > 0 ? std::min(shortest, w.length_s) : shortest;
  const double windows = shortest > 0 ? std::round((end - begin) / shortest) : 1;
  const std::size_t columns =
      windows >= 1 && windows < static_cast<double>(most) ? static_cast<std::size_t>(windows) : most;
  std::vector<float> ratios(columns, 0);
  std::vector<double> sums(columns, 0), messages(columns, 0);
  for (const EvolutionWindow& w : e.windows) {
    const double place = end > begin ? (w.begin_s - begin) / (end - begin) * static_cast<double>(columns) + 1e-6 : 0;
    const auto column =
        static_cast<std::size_t>(std::clamp(std::isfinite(place) ? place : 0.0, 0.0, static_cast<double>(columns) - 1));
    if (!std::isfinite(w.sums.level())) continue;
    sums[column] += w.sums.level() * static_cast<double>(w.sums.messages);
    messages[column] += static_cast<double>(w.sums.messages);
  }
  std::vector<std::uint32_t> weights(columns, 0);
  double full = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    if (messages[c] <= 0) continue;
    weights[c] = 1;
    ratios[c] = static_cast<float>(sums[c] / messages[c]);
    full = std::max(full, static_cast<double>(ratios[c]));
  }
  return text::format_moment(begin) + " " +
         text::sparkline(ratios, weights, columns, std::max(full, 2.0), options.ascii) + " " +
         text::format_moment(end) + ", highest " + text::format_times(full);
}

text::Table period_table(const std::vector<Period>& periods, std::int64_t origin_realtime_ns) {
  text::Table table;
  table.column("  period", Align::left);
  for (const char* title : {"from", "until", "time of day", "windows", "messages", "bytes", "mean", "typical", "first",
                            "middle", "last", "snd/rcv/xfer%"}) {
    table.column(title, Align::right);
  }
  for (const Period& p : periods) {
    table.row({"  " + period_name(p.kind) + (p.open ? " ..." : ""), text::format_moment(p.begin_s),
               text::format_moment(p.end_s), text::format_time_of_day(realtime_of(origin_realtime_ns, p.begin_s)),
               std::to_string(p.windows), text::format_short_count(p.messages),
               text::format_bytes(static_cast<double>(p.bytes)), text::format_ratio(p.mean_ratio),
               text::format_ratio(p.level()), text::format_ratio(p.begin_ratio), text::format_ratio(p.middle_ratio),
               text::format_ratio(p.end_ratio), wait_split_text(p.late_sender_s, p.late_receiver_s, p.transfer_s)});
  }
  return table;
}

}  // namespace

std::vector<RegionEvolution> evolution_of(const Snapshot& snapshot, const std::vector<Window>& windows) {
  std::vector<RegionEvolution> all;
  std::map<std::int32_t, std::size_t> places;
  for (const std::vector<Region>* regions : {&snapshot.regions, &snapshot.ended_regions})
    for (const Region& region : *regions) {
      places[region.id] = all.size();
      all.push_back({region, {}});
    }
  for (const Window& window : windows) {
    for (const RegionWindow& sums : window.regions) {
      const auto at = places.find(sums.region);
      if (at != places.end()) all[at->second].windows.push_back({window.begin_s, window.length_s, sums, true});
    }
  }
  return all;
}

std::vector<RegionEvolution> live_evolution(const Snapshot& snapshot) {
  std::vector<RegionEvolution> all;
  const double length = snapshot.live.window_s;
  const double end = live_until_s(snapshot);
  for (const Region& region : snapshot.regions) {
    RegionEvolution& e = all.emplace_back();
    e.region = region;
    const std::size_t count = std::min(region.history_ratio.size(), region.history_messages.size());
    for (std::size_t i = 0; i < count; ++i) {
      if (region.history_messages[i] == 0) continue;
      EvolutionWindow w{end - static_cast<double>(count - i) * length, length, {}, false};
      w.sums.messages = region.history_messages[i];
      w.sums.typical_ratio = region.history_ratio[i];
      e.windows.push_back(w);
    }
  }
  for (const Region& region : snapshot.ended_regions) all.push_back({region, {}});
  return all;
}

Json evolution_json(const std::vector<RegionEvolution>& regions) {
  Json list = Json::array();
  for (const RegionEvolution& e : regions) {
    Json periods = Json::array(), windows = Json::array();
    for (const Period& p : e.region.periods) periods.push_back(session::period_json(p));
    for (const EvolutionWindow& w : e.windows) windows.push_back(window_json(w));
    list.push_back({{"id", e.region.id},
                    {"ranks", e.region.ranks},
                    {"from_s", finite(e.region.from_s)},
                    {"until_s", finite(e.region.until_s)},
                    {"mean_latency_ratio", finite(e.region.mean_latency_ratio)},
                    {"typical_ratio", finite(e.region.level())},
                    {"periods", periods},
                    {"windows", windows}});
  }
  return {{"regions", list}};
}

Rows evolution_rows(const std::vector<RegionEvolution>& regions) {
  const auto row_of = [](std::int32_t region, const Period& p) {
    Json row = {{"region", region}};
    row.update(session::period_json(p));
    return row;
  };
  std::vector<Json> objects;
  for (const RegionEvolution& e : regions) {
    for (const Period& p : e.region.periods) objects.push_back(row_of(e.region.id, p));
  }
  return rows_of(objects, row_of(0, {}));
}

std::vector<std::string> evolution_lines(const std::vector<RegionEvolution>& regions, std::int64_t origin_realtime_ns,
                                         const PageOptions& options) {
  if (regions.empty()) return {"no regions: no messages between ranks were matched"};
  std::vector<std::string> lines;
  for (const RegionEvolution& e : regions) {
    const Region& r = e.region;
    if (!lines.empty()) lines.push_back("");
    lines.push_back("region " + std::to_string(r.id) + ", ranks " + text::compact_ranks(r.ranks, 40) +
                    (interval_text(r).empty() ? "" : ", " + interval_text(r)) + ": " + text::format_count(r.messages) +
                    " messages, ratio typical " + text::format_ratio(r.level()) + ", mean " +
                    text::format_ratio(r.mean_latency_ratio));
    if (const std::string history = history_line(e, options); !history.empty()) lines.push_back("  " + history);
    if (r.periods.empty()) {
      lines.push_back("  neither growth nor a steady period");
      continue;
    }
    for (std::string& line : period_table(r.periods, origin_realtime_ns).lines(options.width))
      lines.push_back(std::move(line));
  }
  if (options.width > 0) {
    for (std::string& line : lines) line = text::clip(line, options.width);
  }
  return lines;
}

}  // namespace pclscope::views
