#include "viewer/views/closing_lines.hpp"

#include <algorithm>
#include <utility>

#include "viewer/launch/shell_words.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/held_up_text.hpp"
#include "viewer/views/missing_text.hpp"
#include "viewer/views/network_lines.hpp"
#include "viewer/views/sentences.hpp"

namespace pclscope::views {
namespace {

constexpr double least_worst_harm = 0.05;  // ranks that stood still all the time

std::string totals_line(const Closing& closing, const Snapshot& s) {
  const MessageTotals& m = s.messages;
  std::string line = closing.job + ": " + text::format_count(m.matched) + " messages matched, " +
                     text::format_bytes(static_cast<double>(m.bytes)) + ", in " + std::to_string(s.regions.size()) +
                     (s.regions.size() == 1 ? " region" : " regions");
  if (!s.ended_regions.empty()) line += " (" + std::to_string(s.ended_regions.size()) + " more have ended)";
  if (m.unmatched_sends + m.unmatched_receives > 0) {
    line += "; unmatched " + text::format_count(m.unmatched_sends) + "+" + text::format_count(m.unmatched_receives);
  }
  if (m.ambiguous > 0) line += "; ambiguous " + text::format_count(m.ambiguous);
  if (m.dropped_events > 0) line += "; dropped events " + text::format_count(m.dropped_events);
  if (!closing.closed) line += " (the end is missing: the aggregator did not finish)";
  return line;
}

// Of a job on several nodes.
std::string nodes_line(const Snapshot& s) {
  const std::string news = network_line(s);
  return std::to_string(s.application.nodes.size()) + " nodes" + (news.empty() ? "" : ": " + news);
}

// By delay caused once a cause is found, else by the ratio; nobody is picked where two are alike.
std::string worst_region_line(const Snapshot& s) {
  if (s.regions.empty()) return {};
  const session::Harms harms(s);
  std::vector<double> values;
  for (const Region& r : s.regions) values.push_back(harms.lead() ? harms.of_region(r) : r.mean_latency_ratio);
  const auto worst = session::stands_out(values);
  if (!worst) return session::all_alike(values) ? "all regions are alike" : "no single region stands out";
  const Region& r = s.regions[*worst];
  if (harms.lead() && values[*worst] < least_worst_harm) return "no region delays others much";
  const std::string who = std::to_string(r.id) + ", ranks " + text::compact_ranks(r.ranks, 30);
  if (harms.lead())
    return "region " + who + ", delays others most: as if " + text::format_ratio(values[*worst]) +
           " ranks stood still all the time";
  return "worst region " + who + ": mean ratio " + text::format_ratio(r.mean_latency_ratio) + ", typical " +
         text::format_ratio(r.typical_ratio);
}

bool recorded(const Snapshot& s) {
  return s.messages.matched > 0 || !s.regions.empty() ||
         std::any_of(s.ranks.begin(), s.ranks.end(), [](const RankSummary& r) { return r.threads > 0; });
}

// Of a record that is whole: its ranks said that they exit.
std::string left_line(const Snapshot& s) {
  std::vector<std::int32_t> left;
  for (const RankSummary& r : s.ranks)
    if (!r.finished && !r.missing && r.threads > 0) left.push_back(r.rank);
  const bool all = left.size() + s.finalized_ranks == s.ranks.size();  // that did not call it, or cannot be told apart
  if (!s.finished || left.empty() || !all) return {};
  return (left.size() == 1 ? "rank " : "ranks ") + text::compact_ranks(left, 40) + " ended without MPI_Finalize";
}

}  // namespace

std::vector<std::string> closing_lines(const Closing& closing, const std::optional<Snapshot>& summary) {
  std::vector<std::string> lines;
  const bool nothing = summary && !recorded(*summary);
  if (summary && !nothing) {
    lines = sentences(*summary, Sites(summary->sites));
    lines.push_back(totals_line(closing, *summary));
    if (const std::string missing = missing_text(*summary, closing.closed); !missing.empty())
      lines.push_back("not complete: " + missing);
    if (std::string left = left_line(*summary); !closing.detached && !left.empty()) lines.push_back(std::move(left));
    if (std::string held_up = held_up_text(*summary); !held_up.empty()) lines.push_back(std::move(held_up));
    if (summary->application.nodes.size() > 1) lines.push_back(nodes_line(*summary));
    if (std::string worst = worst_region_line(*summary); !worst.empty()) lines.push_back(std::move(worst));
  } else if (!closing.aggregator_ran || (nothing && !closing.why_nothing_said)) {
    lines.push_back(closing.job + ": nothing was recorded");
  }
  if (!closing.dump.empty()) {
    const std::string how = closing.closed && !closing.dump_whole ? " (its end is missing: storing stopped)" : "";
    lines.push_back(closing.dump_exists ? "dump " + closing.dump + how + "; to look at it: pclscope inspect " +
                                              launch::quote_word(closing.dump)
                                        : "no readable dump was written to " + closing.dump);
  }
  return lines;
}

}  // namespace pclscope::views
