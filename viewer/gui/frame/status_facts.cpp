// What the status finds out about all ranks of a snapshot. Declared in status_words.hpp.
#include <algorithm>
#include <map>

#include "analysis/blocked/deadlock_text.hpp"
#include "analysis/efficiency/efficiency.hpp"
#include "interpose/record/functions.hpp"
#include "viewer/gui/frame/status_words.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/network_lines.hpp"

namespace pclscope::gui {
namespace {

constexpr std::size_t most_rows = 20;
constexpr std::size_t most_regions = 64;
constexpr double shortest_s = 0.1;

std::string deadlock_sentence(const Deadlock& deadlock, const Snapshot& snapshot, const views::Sites& sites) {
  std::vector<std::int32_t> ranks;
  for (const DeadlockMember& member : deadlock.members) ranks.push_back(member.rank);
  const double now = live_until_s(snapshot);
  const std::string so_long = now > deadlock.since_s ? " for " + text::format_seconds(now - deadlock.since_s) : "";
  return std::string(ranks.size() == 1 ? "DEADLOCK of rank " : "DEADLOCK of ranks ") + text::compact_ranks(ranks, 30) +
         so_long + ": " + blocked::deadlock_text(deadlock, [&](const DeadlockMember& m) {
           return sites.find(m.site) == nullptr ? std::string() : sites.brief(m.site);
         });
}

}  // namespace

StatusFacts status_facts(const Snapshot& snapshot) {
  StatusFacts facts;
  facts.sites = views::Sites(snapshot.sites);
  std::map<std::uint16_t, std::size_t> inside;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.node < 0) continue;
    if (rank.finished) ++facts.finished;
    else ++facts.ranks, ++inside[rank.call_function];
  }
  for (const auto& [function, ranks] : inside) facts.inside.push_back({function, ranks});
  std::stable_sort(facts.inside.begin(), facts.inside.end(), [](const InsideNow& a, const InsideNow& b) {
    return (a.function == 0) != (b.function == 0) ? b.function == 0 : a.ranks > b.ranks;
  });
  facts.blocked = views::blocked_groups(snapshot);
  if (facts.blocked.size() > most_rows) {
    facts.more_blocked = facts.blocked.size() - most_rows;
    facts.blocked.resize(most_rows);
  }
  for (std::size_t i = 0; i < std::min(snapshot.deadlocks.size(), most_rows); ++i)
    facts.deadlocks.push_back(deadlock_sentence(snapshot.deadlocks[i], snapshot, facts.sites));
  const std::vector<efficiency::RankTime> times = efficiency::rank_times(snapshot);
  const double replayed = efficiency::replayed(snapshot);
  facts.efficiency = efficiency::efficiency_of(times, replayed);
  if (snapshot.pattern.changes == 0)
    for (std::size_t i = 0; i < std::min(snapshot.regions.size(), most_regions); ++i)
      facts.of_region.emplace_back(snapshot.regions[i].id,
                                   efficiency::efficiency_of(times, replayed, snapshot.regions[i].ranks));
  for (const std::string& line : views::network_lines(snapshot)) {
    // Clocks have a heading here already.
    const bool clock = line.starts_with("clocks ") || line.starts_with(' ');
    facts.network.push_back(clock ? line.substr(std::min(line.size(), line.find_first_not_of(' ', line.find(' '))))
                                  : line);
  }
  return facts;
}

const RankSummary* longest_blocked(const Snapshot& snapshot) {
  const RankSummary* longest = nullptr;
  if (snapshot.finished) return longest;
  for (const RankSummary& rank : snapshot.ranks) {
    if (rank.call_function == 0 || rank.finished || !(rank.call_for_s >= shortest_s)) continue;
    if (longest == nullptr || rank.call_for_s > longest->call_for_s) longest = &rank;
  }
  return longest;
}

std::string blocked_text(const RankSummary& rank) {
  return "rank " + std::to_string(rank.rank) + " in " + std::string(record::function_name(rank.call_function)) +
         " for " + text::format_seconds(rank.call_for_s);
}

}  // namespace pclscope::gui
