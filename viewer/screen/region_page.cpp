#include <algorithm>
#include <set>

#include "viewer/screen/pages.hpp"
#include "viewer/screen/panes.hpp"
#include "viewer/text/printable.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/text/sparkline.hpp"
#include "viewer/text/table.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/finding_rows.hpp"
#include "viewer/views/link_rows.hpp"
#include "viewer/views/period_text.hpp"
#include "viewer/views/summary_tables.hpp"
#include "viewer/views/wait_split_text.hpp"

namespace pclscope::screen {
namespace {

using text::Align;
using Lines = std::vector<Line>;

constexpr std::size_t most_of_a_kind = 12;  // links, delays, messages; of ranks more
constexpr std::size_t most_ranks = 64;

bool in(const Region& region, std::int32_t rank) {
  return std::binary_search(region.ranks.begin(), region.ranks.end(), rank);
}

void heading(Lines& lines, const std::string& words) {
  lines.push_back(Line{});
  lines.push_back(line_of(words, Style::strong));
}

// A table: its first line holds the titles.
void append(Lines& lines, const std::vector<std::string>& table) {
  for (std::size_t i = 0; i < table.size(); ++i) lines.push_back(line_of(table[i], i == 0 ? Style::dim : Style::plain));
}

std::string nodes_of(const Region& region, const Application& app) {
  std::set<std::int32_t> nodes;
  for (const std::int32_t rank : region.ranks) {
    if (rank >= 0 && static_cast<std::size_t>(rank) < app.node_of_rank.size())
      nodes.insert(app.node_of_rank[static_cast<std::size_t>(rank)]);
  }
  std::string line;
  std::size_t named = 0;
  for (const std::int32_t node : nodes) {
    if (node < 0 || static_cast<std::size_t>(node) >= app.nodes.size()) continue;
    if (++named > 4) continue;
    line += (named > 1 ? ", " : "") + text::printable(app.nodes[static_cast<std::size_t>(node)]);
  }
  if (named > 4) line += " and " + std::to_string(named - 4) + " more";
  return named == 0 ? "not known" : line;
}

void facts(Lines& lines, const Region& r, const Snapshot& snapshot, std::size_t width) {
  for (Line& line :
       wrapped("ranks      " + text::compact_ranks(r.ranks, std::max<std::size_t>(width, 30) * 3), width, 11))
    lines.push_back(std::move(line));
  lines.push_back(line_of("nodes      " + nodes_of(r, snapshot.application)));
  lines.push_back(line_of("messages   " + text::format_count(r.messages) + ", " +
                          text::format_bytes(static_cast<double>(r.bytes))));
  const auto now = ratio_now(r);
  lines.push_back({{{"ratio      typical ", Style::plain},
                    {text::format_ratio(r.typical_ratio), style_of_ratio(r.typical_ratio)},
                    {", mean ", Style::plain},
                    {text::format_ratio(r.mean_latency_ratio), style_of_ratio(r.mean_latency_ratio)},
                    {", newest window ", Style::plain},
                    {now ? text::format_ratio(*now) : "-", style_of_ratio(now.value_or(0))},
                    {", transfers alone " + text::format_ratio(r.mean_transfer_ratio), Style::plain}},
                   false});
  const std::string split = views::wait_split_text(r.late_sender_s, r.late_receiver_s, r.transfer_s);
  for (Line& line : wrapped("blocked    late senders " + text::format_seconds(r.late_sender_s) + ", late receivers " +
                                text::format_seconds(r.late_receiver_s) + ", exposed transfers " +
                                text::format_seconds(r.transfer_s) + (split == "-" ? "" : " (" + split + " %)"),
                            width, 11))
    lines.push_back(std::move(line));
  lines.push_back(line_of("           waited in collectives " + text::format_seconds(r.collective_wait_s)));
}

void history(Lines& lines, const Region& r, const ScreenModel& model, std::size_t width) {
  heading(lines,
          "history of the typical ratio, newest right; full height is " + text::format_ratio(model.fullest_ratio()));
  if (r.history_ratio.empty()) return lines.push_back(line_of(not_yet(model, "no windows")));
  const std::size_t columns = std::min(std::max<std::size_t>(width, 1), r.history_ratio.size());
  lines.push_back(
      line_of(text::sparkline(r.history_ratio, r.history_messages, columns, model.fullest_ratio(), model.ascii())));
}

void periods(Lines& lines, const Region& r, const ScreenModel& model) {
  heading(lines, "periods");
  if (r.periods.empty()) return lines.push_back(line_of(not_yet(model, "none told apart")));
  text::Table table;
  table.column("kind", Align::left);
  for (const char* title : {"from", "to", "messages", "typical", "mean", "snd/rcv/xfer%"})
    table.column(title, Align::right);
  const std::size_t shown = std::min(r.periods.size(), most_of_a_kind);
  for (std::size_t i = 0; i < shown; ++i) {
    const Period& p = r.periods[r.periods.size() - 1 - i];  // newest first
    table.row({views::period_name(p.kind), text::format_moment(p.begin_s),
               p.open ? "now" : text::format_moment(p.end_s), text::format_short_count(p.messages),
               text::format_ratio(p.typical_ratio), text::format_ratio(p.mean_ratio),
               views::wait_split_text(p.late_sender_s, p.late_receiver_s, p.transfer_s)});
  }
  append(lines, table.lines());
  if (shown < r.periods.size())
    lines.push_back(line_of("... and " + std::to_string(r.periods.size() - shown) + " older"));
}

void findings(Lines& lines, const Region& r, const ScreenModel& model, std::size_t width) {
  const Snapshot& snapshot = *model.snapshot();
  bool any = false;
  for (const Finding& f : snapshot.attribution.findings) {
    const bool here =
        f.region == r.id || std::any_of(f.ranks.begin(), f.ranks.end(), [&](std::int32_t rank) { return in(r, rank); });
    if (!here) continue;
    if (!any) heading(lines, "findings about it");
    any = true;
    for (Line& line : wrapped(views::finding_line(f, snapshot, model.sites()), width, 2))
      lines.push_back(std::move(line));
  }
}

void delays(Lines& lines, const Region& r, const ScreenModel& model) {
  std::vector<DelayOrigin> here;
  for (const DelayOrigin& d : model.snapshot()->delays) {
    const bool touched =
        in(r, d.rank) || std::any_of(d.victims.begin(), d.victims.end(), [&](std::int32_t v) { return in(r, v); });
    if (touched && here.size() < most_of_a_kind) here.push_back(d);
  }
  if (here.empty()) return;
  heading(lines, "delays that began here or are felt here: ranks and call sites");
  append(lines, views::delay_lines(here, model.snapshot()->regions, model.sites(), 0));
}

void links(Lines& lines, const Region& r, const Snapshot& snapshot) {
  std::vector<RegionLink> here;
  for (const RegionLink& link : snapshot.links) {
    if ((link.a == r.id || link.b == r.id) && here.size() < most_of_a_kind) here.push_back(link);
  }
  heading(lines, "messages to and from other regions");
  if (here.empty()) return lines.push_back(line_of("none"));
  append(lines, views::link_lines(here, 0));
}

void worst(Lines& lines, const Region& r, const Snapshot& snapshot) {
  text::Table table;
  table.column("from - to", Align::left);
  for (const char* title : {"tag", "size", "sent at", "took", "ratio", "snd/rcv/xfer%"})
    table.column(title, Align::right);
  std::size_t shown = 0;
  for (const WorstMessage& w : snapshot.worst) {
    if ((!in(r, w.source) && !in(r, w.destination)) || ++shown > most_of_a_kind) continue;
    table.row({std::to_string(w.source) + " - " + std::to_string(w.destination), std::to_string(w.tag),
               text::format_bytes(static_cast<double>(w.bytes)), text::format_moment(w.start_s),
               text::format_seconds(w.time_s), text::format_ratio(w.ratio),
               views::wait_split_text(w.late_sender_s, w.late_receiver_s, w.transfer_s)});
  }
  heading(lines, "worst messages of the newest windows");
  if (shown == 0) return lines.push_back(line_of("none of the worst of the job"));
  append(lines, table.lines());
}

void ranks(Lines& lines, const Region& r, const Snapshot& snapshot) {
  std::vector<RankSummary> here;
  for (const RankSummary& rank : snapshot.ranks) {
    if (in(r, rank.rank) && here.size() < most_ranks) here.push_back(rank);
  }
  heading(lines, "its ranks");
  append(lines, views::rank_lines(here, snapshot.application, 0));
  if (r.ranks.size() > here.size() && !here.empty())
    lines.push_back(line_of("... and " + std::to_string(r.ranks.size() - here.size()) + " more"));
}

// Where its ranks are blocked now.
void blocked(Lines& lines, const Region& r, const ScreenModel& model) {
  std::vector<views::BlockedGroup> here;
  for (const views::BlockedGroup& group : model.blocked()) {
    views::BlockedGroup part{{}, group.like};
    std::copy_if(group.ranks.begin(), group.ranks.end(), std::back_inserter(part.ranks),
                 [&](std::int32_t rank) { return in(r, rank); });
    if (!part.ranks.empty() && here.size() < most_of_a_kind) here.push_back(std::move(part));
  }
  if (here.empty()) return;
  heading(lines, "blocked now");
  append(lines, views::blocked_section(here, model.sites(), here.size() + 1));
}

}  // namespace

PageText region_page(const ScreenModel& model, std::size_t width) {
  const Region* region = model.region();
  if (region == nullptr)
    return {"region", {line_of("This region is no longer there: its ranks talk to others now. Esc goes back.")}};
  const Snapshot& snapshot = *model.snapshot();
  PageText page;
  page.title = "REGION " + std::to_string(region->id) + ", " + std::to_string(region->ranks.size()) +
               (region->ranks.size() == 1 ? " rank" : " ranks");
  if (const std::string period = views::newest_period(*region); !period.empty()) page.title += ", " + period;
  facts(page.lines, *region, snapshot, width);
  history(page.lines, *region, model, width);
  periods(page.lines, *region, model);
  findings(page.lines, *region, model, width);
  blocked(page.lines, *region, model);
  delays(page.lines, *region, model);
  links(page.lines, *region, snapshot);
  worst(page.lines, *region, snapshot);
  ranks(page.lines, *region, snapshot);
  return page;
}

}  // namespace pclscope::screen
