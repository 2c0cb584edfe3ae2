#include "viewer/views/watch_page.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/blocked_sections.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/efficiency_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/held_up_text.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/missing_text.hpp"
#include "viewer/views/network_lines.hpp"
#include "viewer/views/pattern_lines.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/region_section.hpp"
#include "viewer/views/sentences.hpp"
#include "viewer/views/wait_split_text.hpp"

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
               wait_split_text(w.late_sender_s, w.late_receiver_s, w.transfer_s)});
  }
  return table.lines(options.width);
}

// One part of the page below the header.
struct Section {
  std::size_t least;   // fewer lines than that are not worth it
  std::size_t fair;    // what it gets before others get more
  std::size_t wanted;  // with all it has to say
  std::size_t lines = 0;
};

// Lines for each section, in order of importance for what is scarce; a blank goes before each.
template <std::size_t Count>
void share_out(std::size_t room, const std::array<Section*, Count>& by_importance) {
  for (Section* section : by_importance) {
    if (section->wanted == 0 || room < section->least + 1) continue;
    section->lines = std::min({section->fair, section->wanted, room - 1});
    room -= section->lines + 1;
  }
  for (bool given = true; given && room > 0;) {
    given = false;
    for (Section* section : by_importance) {
      if (room == 0 || section->lines == 0 || section->lines >= section->wanted) continue;
      ++section->lines;
      --room;
      given = true;
    }
  }
}

void append(Lines& page, Lines section) {
  if (section.empty()) return;
  page.push_back("");
  for (std::string& line : section) page.push_back(std::move(line));
}

}  // namespace

std::vector<std::string> header_lines(const Snapshot& snapshot, const Freshness& freshness) {
  const Application& app = snapshot.application;
  const MessageTotals& m = snapshot.messages;
  Lines lines;
  lines.push_back(text::printable(snapshot.job) + "  " + text::printable(app.command));
  lines.push_back(text::printable(app.mpi.empty() ? so_far(snapshot, "MPI not known") : app.mpi) + "  " +
                  counted(static_cast<std::size_t>(std::max(app.ranks, 0)), "rank", "ranks") + " on " +
                  counted(app.nodes.size(), "node", "nodes") + "  elapsed " +
                  text::format_seconds(session::elapsed_s(snapshot)) + "  " + freshness_text(snapshot, freshness));
  lines.push_back("matched " + text::format_count(m.matched) + "  unmatched " +
                  text::format_short_count(m.unmatched_sends) + "+" + text::format_short_count(m.unmatched_receives) +
                  "  ambiguous " + text::format_short_count(m.ambiguous) + "  dropped " +
                  text::format_short_count(m.dropped_events) + "  " + text::format_bytes(static_cast<double>(m.bytes)));
  if (m.half_recorded > 0) lines.back() += "  half recorded " + text::format_short_count(m.half_recorded);
  std::string last = std::string(snapshot.finished ? "ratio " : "ratio so far ") + "typical " +
                     text::format_ratio(snapshot.latency.typical_ratio) + "  mean " +
                     text::format_ratio(snapshot.latency.mean_ratio) + "  median " +
                     text::format_seconds(snapshot.latency.median_s) + "  p99 " +
                     text::format_seconds(snapshot.latency.p99_s);
  if (m.clock_violations > 0) last += "  clock violations " + text::format_short_count(m.clock_violations);
  lines.push_back(last);
  if (const std::string text = brief_efficiency_text(efficiency::efficiency_of(snapshot)); !text.empty())
    lines.push_back("efficiency: " + text);
  if (const std::string nodes = network_line(snapshot); !nodes.empty()) lines.push_back(nodes);
  if (const std::string missing = missing_text(snapshot, true); !missing.empty())
    lines.push_back("not complete: " + missing);
  if (std::string held_up = held_up_text(snapshot); !held_up.empty()) lines.push_back(std::move(held_up));
  if (const Lines changes = pattern_change_lines(snapshot); !changes.empty()) lines.push_back(changes.back());
  if (const std::string budget = budget_line(snapshot.retention); !budget.empty()) lines.push_back(budget);
  if (const std::string shed = shed_line(snapshot.retention); !shed.empty()) lines.push_back(shed);
  return lines;
}

std::vector<std::string> watch_page(const Snapshot& snapshot, const Freshness& freshness, const PageOptions& options) {
  Lines page = header_lines(snapshot, freshness);
  const Sites sites(snapshot.sites);
  const Lines first = sentence_lines(snapshot, sites, options.width, options.height / 4);
  page.insert(page.begin() + identity_lines, first.begin(), first.end());
  append(page, deadlock_banner(snapshot, sites, std::max<std::size_t>(options.height / 4, 2), options));
  const std::vector<BlockedGroup> groups = blocked_groups(snapshot);
  const std::size_t functions = snapshot.functions.size();
  Section why{1, 2, std::min<std::size_t>(2 * findings_to_show(snapshot), 6)};
  Section regions{2, 5, snapshot.regions.empty() ? 2 : 1 + snapshot.regions.size()};
  const std::vector<RegionLink> bad = bad_links(snapshot);
  Section delays{2, 3, snapshot.delays.empty() ? 0 : 1 + std::min<std::size_t>(snapshot.delays.size(), 5)};
  Section links{2, 2, bad.empty() ? 0 : 1 + std::min<std::size_t>(bad.size(), 5)};
  Section worst{2, 2, snapshot.worst.empty() ? 0 : 1 + std::min<std::size_t>(snapshot.worst.size(), 5)};
  Section inside{1, 3, snapshot.ranks.empty() || (snapshot.finished && functions == 0) ? 0 : 2 + functions};
  Section blocked{2, 4, groups.empty() ? 0 : 1 + groups.size()};
  share_out(options.height > page.size() ? options.height - page.size() : 0,
            std::array<Section*, 7>{&why, &regions, &blocked, &delays, &inside, &links, &worst});
  append(page, finding_section(snapshot, sites, why.lines));
  if (regions.lines > 0) append(page, region_section(snapshot, regions.lines - 1, options));
  append(page, link_section(bad, links.lines));
  append(page, delay_section(snapshot, sites, delays.lines));
  if (worst.lines > 0) append(page, worst_lines(snapshot, worst.lines - 1, options));
  append(page, blocked_section(groups, sites, blocked.lines));
  append(page, function_section(snapshot, inside.lines, options));
  if (page.size() > options.height) page.resize(options.height);
  for (std::string& line : page) line = text::clip(options.ascii ? text::ascii_only(line) : line, options.width);
  return page;
}

}  // namespace pclscope::views
