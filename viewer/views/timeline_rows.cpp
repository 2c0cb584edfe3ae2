#include "viewer/views/timeline_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "interpose/record/event.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::views {
namespace {

using session::Json;

double in_s(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

const char* ending_of(const TimelineRow& row) {
  if (row.running) return "running";
  return row.call.ending == CallEnding::unseen ? "unseen" : "returned";
}

}  // namespace

TimelineRow timeline_row(const MpiCall& call, const session::WaitsOfRanks& waits) {
  TimelineRow row{call};
  const auto inside = waits.inside(call.rank, call.begin, call.end);
  row.waited_ns = inside.waited_ns;
  if (inside.longest != nullptr) {
    row.awaited = inside.longest->awaited;
    row.state = inside.longest->state;
  }
  return row;
}

std::vector<TimelineRow> running_calls(const Snapshot& snapshot) {
  std::vector<TimelineRow> rows;
  const double end_s = session::elapsed_s(snapshot);
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.call_function == 0 || rank.finished || !std::isfinite(rank.call_for_s) || !std::isfinite(end_s)) continue;
    TimelineRow& row = rows.emplace_back();
    row.running = true;
    row.call.comm = rank.call_comm;
    row.call.rank = rank.rank;
    row.call.function = rank.call_function;
    row.call.peer = rank.call_peer >= 0 ? rank.call_peer : MpiCall::nobody;
    row.call.end = std::llround(std::clamp(end_s, 0.0, 4e9) * 1e9);
    row.call.begin = row.call.end - std::llround(std::clamp(rank.call_for_s, 0.0, 4e9) * 1e9);
    row.call.site = rank.call_site;
  }
  return rows;
}

Json timeline_json(const TimelineRow& row, const Sites& sites) {
  const MpiCall& c = row.call;
  const bool ended = !row.running && c.ending == CallEnding::returned;
  const std::string site = sites.location(c.site);
  return {{"rank", c.rank},
          {"thread", c.thread},
          {"function", function_name(c.function)},
          {"begin_s", in_s(c.begin)},
          {"duration_s", ended ? Json(in_s(c.end - c.begin)) : Json(nullptr)},
          {"ending", ending_of(row)},
          {"outside_s", c.outside >= 0 ? Json(in_s(c.outside)) : Json(nullptr)},
          {"peer", c.peer >= 0 ? Json(c.peer) : Json(nullptr)},
          {"several_peers", c.peer == MpiCall::several},
          {"comm", text::format_hexadecimal(c.comm)},
          {"bytes", c.bytes},
          {"waited_s", row.waited_ns >= 0 ? Json(in_s(row.waited_ns)) : Json(nullptr)},
          {"waited_for", row.awaited >= 0 ? Json(row.awaited) : Json(nullptr)},
          {"wait_state", row.state == WaitState::none ? Json(nullptr) : Json(name_of(row.state))},
          {"site", site.empty() ? Json(nullptr) : Json(site)}};
}

std::vector<std::string> timeline_lines(const std::vector<TimelineRow>& rows, const Sites& sites, std::size_t width) {
  const bool threads = std::any_of(rows.begin(), rows.end(), [](const TimelineRow& r) { return r.call.thread > 0; });
  text::Table table;
  table.column("entered", text::Align::right);
  table.column("rank", text::Align::right);
  if (threads) table.column("thread", text::Align::right);
  table.column("function", text::Align::left);
  for (const char* title : {"took", "waited"}) table.column(title, text::Align::right);
  table.column("for", text::Align::left);
  for (const char* title : {"partner", "size"}) table.column(title, text::Align::right);
  table.column("at", text::Align::left);
  for (const TimelineRow& row : rows) {
    const MpiCall& c = row.call;
    std::array<char, 40> at{};
    std::snprintf(at.data(), at.size(), "%.6f s", in_s(c.begin));
    std::vector<std::string> cells{at.data(), std::to_string(c.rank)};
    if (threads) cells.push_back(std::to_string(c.thread));
    cells.push_back(function_name(c.function));
    const std::string took = text::format_seconds(in_s(c.end - c.begin));
    cells.push_back(row.running ? "> " + took : c.ending == CallEnding::unseen ? "-" : took);
    cells.push_back(row.waited_ns > 0 ? text::format_seconds(in_s(row.waited_ns)) : "-");
    cells.push_back(row.awaited >= 0 ? "rank " + std::to_string(row.awaited) + ", " + name_of(row.state) : "");
    cells.push_back(c.peer >= 0 ? std::to_string(c.peer) : c.peer == MpiCall::several ? "several" : "-");
    cells.push_back(c.bytes > 0 ? text::format_bytes(static_cast<double>(c.bytes)) : "-");
    cells.push_back(sites.brief(c.site));
    table.row(cells);
  }
  return table.lines(width);
}

}  // namespace pclscope::views
