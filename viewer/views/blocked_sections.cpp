#include "viewer/views/blocked_sections.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>

#include "analysis/blocked/deadlock_text.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/function_names.hpp"

namespace pclscope::views {
namespace {

using Lines = std::vector<std::string>;

constexpr double shortest_s = 0.1;
constexpr std::size_t history_columns = 30;

std::string more_line(std::size_t count, const char* what) {
  return "... " + std::to_string(count) + " more " + what + (count == 1 ? "" : "s");
}

// Broken at blanks; continuation lines are indented.
Lines wrap(const std::string& text, std::size_t width) {
  const std::string indent = "  ";
  width = std::max<std::size_t>(width, 20);
  Lines lines;
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!line.empty() && line != indent && text::display_width(line) + 1 + text::display_width(word) > width) {
      lines.push_back(line);
      line = indent;
    }
    line += (line.empty() || line == indent ? "" : " ") + word;
    at = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

// Tens of thousands of ranks twice a second: they are looked at, not copied.
std::vector<const RankSummary*> longest_first(const Snapshot& snapshot) {
  std::vector<const RankSummary*> ranks;
  if (snapshot.finished) return ranks;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.call_function != 0 && !rank.finished && rank.call_for_s >= shortest_s) ranks.push_back(&rank);
  }
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankSummary* a, const RankSummary* b) { return a->call_for_s > b->call_for_s; });
  return ranks;
}

// Blocked in the same call at the same place on the same ranks: hash and equality.
struct Alike {
  // Who waits for any of all the others leaves out itself: that makes no difference to people.
  static std::span<const std::int32_t> partners(const RankSummary& rank) {
    return rank.waits_for_any && rank.waits_for.size() > 1 ? std::span<const std::int32_t>() : rank.waits_for;
  }
  std::size_t operator()(const RankSummary* rank) const {
    std::size_t sum =
        (std::size_t{rank->call_function} << 33) ^ (std::size_t{rank->call_site} << 1) ^ (rank->waits_for_any ? 1 : 0);
    for (const std::int32_t r : partners(*rank)) sum = (sum ^ static_cast<std::uint32_t>(r)) * 0x100000001b3u;
    return sum;
  }
  bool operator()(const RankSummary* a, const RankSummary* b) const {
    const auto x = partners(*a), y = partners(*b);
    return a->call_function == b->call_function && a->call_site == b->call_site &&
           a->waits_for_any == b->waits_for_any && std::equal(x.begin(), x.end(), y.begin(), y.end());
  }
};

struct Activity {
  std::size_t ranks = 0;  // that have called MPI_Init and have not finished
  std::size_t finished = 0;
  std::map<std::uint16_t, std::size_t> inside;  // by function, 0: outside MPI
};

Activity activity_now(const Snapshot& snapshot) {
  Activity now;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.node < 0) continue;
    if (rank.finished) {
      ++now.finished;
      continue;
    }
    ++now.ranks;
    ++now.inside[rank.call_function];
  }
  return now;
}

std::string share_text(std::size_t part, std::size_t whole) {
  return text::format_share(whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0);
}

// "inside now: MPI_Waitall 75%  outside MPI 25%": shares of the ranks that have not finished.
std::string inside_line(const Activity& now) {
  if (now.ranks + now.finished == 0) return "no rank has called MPI_Init yet";
  std::vector<std::pair<std::uint16_t, std::size_t>> most_first(now.inside.begin(), now.inside.end());
  std::stable_sort(most_first.begin(), most_first.end(), [](auto& a, auto& b) { return a.second > b.second; });
  std::string line = "inside now:";
  for (const auto& [function, count] : most_first) {
    line += "  " + (function == 0 ? "outside MPI" : function_name(function)) + " " + share_text(count, now.ranks);
  }
  if (now.finished > 0) line += "  (" + std::to_string(now.finished) + " finished)";
  return line;
}

std::string outside_line(const Activity& now) {
  if (now.ranks + now.finished == 0) return "no rank has called MPI_Init yet";
  const auto outside = now.inside.find(0);
  std::string line = "outside MPI now: " + share_text(outside == now.inside.end() ? 0 : outside->second, now.ranks);
  if (now.finished > 0) line += "  (" + std::to_string(now.finished) + " finished)";
  return line;
}

}  // namespace

std::vector<RankSummary> blocked_ranks(const Snapshot& snapshot) {
  std::vector<RankSummary> ranks;
  for (const RankSummary* rank : longest_first(snapshot)) ranks.push_back(*rank);
  return ranks;
}

std::vector<BlockedGroup> blocked_groups(const Snapshot& snapshot) {
  const std::vector<const RankSummary*> blocked = longest_first(snapshot);
  std::unordered_map<const RankSummary*, std::size_t, Alike, Alike> places(blocked.size());
  std::vector<BlockedGroup> groups;
  for (const RankSummary* rank : blocked) {
    const auto [at, fresh] = places.try_emplace(rank, groups.size());
    if (fresh) groups.push_back({{}, *rank});
    groups[at->second].ranks.push_back(rank->rank);
  }
  for (BlockedGroup& group : groups) std::sort(group.ranks.begin(), group.ranks.end());
  return groups;
}

Lines deadlock_banner(const Snapshot& snapshot, const Sites& sites, std::size_t most, const PageOptions& options) {
  Lines lines;
  for (const Deadlock& deadlock : snapshot.deadlocks) {
    std::vector<std::int32_t> ranks;
    for (const DeadlockMember& member : deadlock.members) ranks.push_back(member.rank);
    const double now_s = live_until_s(snapshot);
    const std::string for_so_long =
        now_s > deadlock.since_s ? " for " + text::format_seconds(now_s - deadlock.since_s) : "";
    const std::string text = blocked::deadlock_text(deadlock, [&](const DeadlockMember& member) {
      return sites.find(member.site) == nullptr ? std::string() : sites.brief(member.site);
    });
    const Lines wrapped = wrap("DEADLOCK of " + std::string(ranks.size() == 1 ? "rank " : "ranks ") +
                                   text::compact_ranks(ranks, 30) + for_so_long + ": " + text,
                               options.width);
    lines.insert(lines.end(), wrapped.begin(), wrapped.end());
  }
  if (lines.size() > most) {
    lines.resize(most);
    if (most > 0) lines.back() = "  ... and more: pclscope watch --once --json tells all";
  }
  return lines;
}

Lines function_section(const Snapshot& snapshot, std::size_t most, const PageOptions& options) {
  const Activity now = activity_now(snapshot);
  if (most == 0) return {};
  if (snapshot.functions.empty() || most < 3) return {inside_line(now)};
  text::Table table;
  table.column("inside", text::Align::left);
  for (const char* title : {"now", "calls", "time"}) table.column(title, text::Align::right);
  table.column("share of ranks over time", text::Align::left);
  float full = 0.1F;
  for (const FunctionActivity& f : snapshot.functions) {
    for (const float share : f.history_share) full = std::max(full, share);
  }
  const std::size_t room = most - 2;  // title and last line
  const std::size_t shown = std::min(snapshot.functions.size(), room);
  for (std::size_t i = 0; i < shown; ++i) {
    const FunctionActivity& f = snapshot.functions[i];
    const std::vector<std::uint32_t> weights(f.history_share.size(), 1);
    table.row({function_name(f.function), share_text(f.ranks_inside, now.ranks), text::format_short_count(f.calls),
               text::format_seconds(f.inside_s),
               text::sparkline(f.history_share, weights, history_columns, full, options.ascii)});
  }
  Lines lines = table.lines();
  lines.push_back(outside_line(now));
  if (shown < snapshot.functions.size())
    lines.back() += "  " + more_line(snapshot.functions.size() - shown, "function");
  return lines;
}

Lines blocked_section(const std::vector<BlockedGroup>& groups, const Sites& sites, std::size_t most) {
  if (groups.empty() || most < 2) return {};
  text::Table table;
  table.column("blocked", text::Align::right);
  for (const char* title : {"ranks", "inside", "at", "waits for"}) table.column(title, text::Align::left);
  const std::size_t room = most - 1;
  const std::size_t shown = groups.size() <= room ? groups.size() : std::max<std::size_t>(room - 1, 1);
  for (std::size_t i = 0; i < shown; ++i) {
    const RankSummary& like = groups[i].like;
    table.row({text::format_seconds(like.call_for_s), text::compact_ranks(groups[i].ranks, 14),
               function_name(like.call_function), sites.brief(like.call_site), blocked::waits_text(like)});
  }
  Lines lines = table.lines();
  if (shown < groups.size() && shown < room)
    lines.push_back(more_line(groups.size() - shown, "group") + " of blocked ranks");
  return lines;
}

}  // namespace pclscope::views
