#include "viewer/views/watch_page.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "interpose/record/functions.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"

namespace pclscope::views {
namespace {

using Lines = std::vector<std::string>;

std::string counted(std::size_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string freshness_text(const Snapshot& snapshot, const Freshness& freshness) {
  if (snapshot.finished) return "finished";
  if (freshness.silent_s > std::max(2.0, 3 * freshness.interval_s)) {
    return "no news for " + std::to_string(std::llround(freshness.silent_s)) + " s";
  }
  return freshness.age_s ? "data " + text::format_seconds(*freshness.age_s) + " old" : "age of data unknown";
}

Lines header_lines(const Snapshot& snapshot, const Freshness& freshness) {
  const Application& app = snapshot.application;
  const MessageTotals& m = snapshot.messages;
  const double delayed = m.matched > 0 ? static_cast<double>(m.delayed) / static_cast<double>(m.matched) : 0;
  Lines lines;
  lines.push_back(text::printable(snapshot.job) + "  " + text::printable(app.command));
  lines.push_back(text::printable(app.mpi.empty() ? "MPI not known yet" : app.mpi) + "  " +
                  counted(static_cast<std::size_t>(std::max(app.ranks, 0)), "rank", "ranks") + " on " +
                  counted(app.nodes.size(), "node", "nodes") + "  elapsed " + text::format_seconds(snapshot.duration_s) +
                  "  " + freshness_text(snapshot, freshness));
  lines.push_back("matched " + text::format_count(m.matched) + "  unmatched " + text::format_short_count(m.unmatched_sends) +
                  "+" + text::format_short_count(m.unmatched_receives) + "  ambiguous " +
                  text::format_short_count(m.ambiguous) + "  dropped " + text::format_short_count(m.dropped_events) +
                  "  " + text::format_bytes(static_cast<double>(m.bytes)));
  std::string last = "delayed " + text::format_share(delayed) + "  mean ratio " +
                     text::format_ratio(snapshot.latency.mean_ratio) + "  median " +
                     text::format_seconds(snapshot.latency.median_s) + "  p99 " +
                     text::format_seconds(snapshot.latency.p99_s);
  if (m.clock_violations > 0) last += "  clock violations " + text::format_short_count(m.clock_violations);
  lines.push_back(last);
  return lines;
}

// "12/3/85": late sender, late receiver, transfer in percent of their sum.
std::string split_text(double late_sender, double late_receiver, double transfer) {
  const double sum = late_sender + late_receiver + transfer;
  if (!(sum > 0) || !std::isfinite(sum)) return "-";
  const auto percent = [&](double part) { return std::to_string(std::lround(part / sum * 100)); };
  return percent(late_sender) + "/" + percent(late_receiver) + "/" + percent(transfer);
}

std::string ratio_now(const Region& region) {
  if (region.history_ratio.empty() || region.history_messages.empty() || region.history_messages.back() == 0) return "-";
  return text::format_ratio(region.history_ratio.back());
}

// The ratio that fills a column: of all regions, so that their histories can be compared.
double fullest(const std::vector<Region>& regions) {
  double full = 2;  // ordinary noise around 1 must not look like a drama
  for (const Region& region : regions) {
    for (const float ratio : region.history_ratio) {
      if (std::isfinite(ratio)) full = std::max(full, static_cast<double>(ratio));
    }
  }
  return full;
}

Lines region_lines(const Snapshot& snapshot, std::size_t most, const PageOptions& options) {
  if (snapshot.regions.empty()) return {"no regions yet: no messages between ranks have been matched"};
  std::vector<const Region*> worst_first;
  for (const Region& region : snapshot.regions) worst_first.push_back(&region);
  std::stable_sort(worst_first.begin(), worst_first.end(), [](const Region* a, const Region* b) {
    return a->mean_latency_ratio > b->mean_latency_ratio;
  });
  const std::size_t shown = worst_first.size() <= most ? worst_first.size() : most > 0 ? most - 1 : 0;
  const double full = fullest(snapshot.regions);
  text::Table table;
  table.column("region", text::Align::right);
  table.column("ranks", text::Align::left);
  table.column("messages", text::Align::right);
  table.column("now", text::Align::right);
  table.column("mean", text::Align::right);
  table.column("late", text::Align::right);
  table.column("snd/rcv/xfer%", text::Align::right);
  table.column("history", text::Align::left);
  for (std::size_t i = 0; i < shown; ++i) {
    const Region& r = *worst_first[i];
    table.row({std::to_string(r.id), text::compact_ranks(r.ranks, 14), text::format_short_count(r.messages), ratio_now(r),
               text::format_ratio(r.mean_latency_ratio), text::format_share(r.delayed_share),
               split_text(r.late_sender_s, r.late_receiver_s, r.transfer_s),
               text::sparkline(r.history_ratio, r.history_messages, 14, full, options.ascii)});
  }
  Lines lines = table.lines(options.width);
  if (shown < worst_first.size()) {
    lines.push_back("... " + counted(worst_first.size() - shown, "more region", "more regions"));
  }
  return lines;
}

Lines worst_lines(const Snapshot& snapshot, std::size_t most, const PageOptions& options) {
  if (snapshot.worst.empty() || most == 0) return {};
  text::Table table;
  table.column("worst now", text::Align::left);
  for (const char* title : {"tag", "size", "sent at", "took", "ratio", "snd/rcv/xfer%"}) {
    table.column(title, text::Align::right);
  }
  for (std::size_t i = 0; i < std::min(most, snapshot.worst.size()); ++i) {
    const WorstMessage& w = snapshot.worst[i];
    table.row({std::to_string(w.source) + " -> " + std::to_string(w.destination), std::to_string(w.tag),
               text::format_bytes(static_cast<double>(w.bytes)), text::format_seconds(w.start_s),
               text::format_seconds(w.time_s), text::format_ratio(w.ratio),
               split_text(w.late_sender_s, w.late_receiver_s, w.transfer_s)});
  }
  return table.lines(options.width);
}

// "inside now: MPI_Waitall 75%  outside MPI 25%": shares of the ranks that have not finished.
std::string inside_line(const Snapshot& snapshot) {
  std::map<std::uint16_t, std::size_t> inside;
  std::size_t ranks = 0;
  std::size_t finished = 0;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.node < 0) continue;  // has not called MPI_Init yet
    if (rank.finished) {
      ++finished;
      continue;
    }
    ++inside[rank.call_function];
    ++ranks;
  }
  if (ranks + finished == 0) return "no rank has called MPI_Init yet";
  std::vector<std::pair<std::uint16_t, std::size_t>> most_first(inside.begin(), inside.end());
  std::stable_sort(most_first.begin(), most_first.end(), [](auto& a, auto& b) { return a.second > b.second; });
  std::string line = "inside now:";
  for (const auto& [function, count] : most_first) {
    const std::string name = function == 0 ? "outside MPI" : std::string(record::function_name(function));
    line += "  " + name + " " + text::format_share(static_cast<double>(count) / static_cast<double>(ranks));
  }
  if (finished > 0) line += "  (" + std::to_string(finished) + " finished)";
  return line;
}

}  // namespace

std::vector<std::string> watch_page(const Snapshot& snapshot, const Freshness& freshness, const PageOptions& options) {
  Lines page = header_lines(snapshot, freshness);
  page.push_back("");
  // Room that the rest of the page takes: blanks, titles, the last line. Regions first, then the worst messages.
  const std::size_t fixed = page.size() + 2 + 2;
  const std::size_t room = options.height > fixed ? options.height - fixed : 0;
  const std::size_t for_worst = std::min({snapshot.worst.size(), room / 2, std::size_t{5}});
  const std::size_t for_regions = room - for_worst > 1 ? room - for_worst - 1 : 0;
  for (std::string& line : region_lines(snapshot, for_regions, options)) page.push_back(std::move(line));
  if (for_worst > 0) {
    page.push_back("");
    for (std::string& line : worst_lines(snapshot, for_worst, options)) page.push_back(std::move(line));
  }
  if (!snapshot.ranks.empty() && !snapshot.finished) {
    page.push_back("");
    page.push_back(inside_line(snapshot));
  }
  if (page.size() > options.height) page.resize(options.height);
  for (std::string& line : page) line = text::clip(options.ascii ? text::ascii_only(line) : line, options.width);
  return page;
}

}  // namespace pclscope::views
