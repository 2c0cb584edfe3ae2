// Regions and ranks: who talks to whom, who harms others, and where each rank's time goes.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "viewer/layout/spatial_layout.hpp"
#include "viewer/report/plot.hpp"
#include "viewer/report/report.hpp"
#include "viewer/session/harm.hpp"
#include "viewer/text/quantities.hpp"
#include "viewer/text/rank_list.hpp"
#include "viewer/views/delay_rows.hpp"
#include "viewer/views/period_text.hpp"

namespace pclscope::report {
namespace {

using session::finite;

constexpr std::size_t most_regions_listed = 24, most_delays = 10, most_links = 250, most_columns = 180, levels = 6,
                      first_strong = 3;  // on which text is as bright, or dark, as the page

std::string harm_text(double harm) { return text::format_ratio(harm); }

// Level of a value on the scale up to `top`, 0 (none) to 5.
std::size_t level_of(double value, double top) {
  if (!(value > 0.02 * top)) return 0;
  return std::min<std::size_t>(1 + static_cast<std::size_t>(value / top * (levels - 1)), levels - 1);
}

// What each region or rank is coloured by: its harm, else its latency ratio.
struct Values {
  std::vector<double> regions, ranks;  // by index of the snapshot's regions; by world rank
  double region_top = 1, rank_top = 1;
  bool harm = false;
};

double above_usual(double ratio) { return ratio > 1 && std::isfinite(ratio) ? std::log2(ratio) : 0; }

Values values_of(const Snapshot& s, const session::Harms& harms) {
  Values v;
  v.harm = harms.lead();
  for (const Region& r : s.regions) v.regions.push_back(v.harm ? harms.of_region(r) : above_usual(r.level()));
  std::int32_t last = -1;
  for (const RankSummary& r : s.ranks)
    if (r.rank < session::most_rank) last = std::max(last, r.rank);
  v.ranks.resize(static_cast<std::size_t>(last + 1), 0);
  for (const RankSummary& r : s.ranks)
    if (r.rank >= 0 && r.rank <= last)
      v.ranks[static_cast<std::size_t>(r.rank)] = v.harm ? harms.of_rank(r.rank) : above_usual(r.level());
  if (v.harm) {
    v.region_top = session::harm_top(v.regions);
    v.rank_top = session::harm_top(v.ranks);
  } else {  // 8 times the usual, or more
    for (const double value : v.regions) v.region_top = std::max({v.region_top, 3.0, value});
    v.rank_top = v.region_top;
  }
  return v;
}

std::string scale_key(const Values& v) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t l = 1; l < levels; ++l) {
    const double value = v.rank_top * static_cast<double>(l) / (levels - 1);
    entries.emplace_back("h" + std::to_string(l),
                         "up to " + (v.harm ? text::format_ratio(value) : text::format_times(std::exp2(value))));
  }
  entries.insert(entries.begin(), {"h0", v.harm ? "next to nothing" : "usual"});
  return key(entries);
}

std::vector<std::size_t> worst_regions(const Snapshot& s, const session::Harms& harms) {
  std::vector<std::size_t> order(s.regions.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::vector<double> harm;
  for (const Region& r : s.regions) harm.push_back(harms.of_region(r));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (harms.lead() && harm[a] != harm[b]) return harm[a] > harm[b];
    return s.regions[a].level() > s.regions[b].level();
  });
  return order;
}

std::string regions_table(const Snapshot& s, const session::Harms& harms) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (const char* title : {"region", "ranks", "messages", "bytes", "typical ratio", "delay caused", "late senders",
                            "late receivers", "transfers", "collectives"})
    html += column_title(std::string_view(title) == "ranks" ? "words" : "", title);
  const bool periods =
      std::any_of(s.regions.begin(), s.regions.end(), [](const Region& r) { return !views::newest_period(r).empty(); });
  html += (periods ? column_title("words", "newest period") : "") + "</tr></thead>\n<tbody>\n";
  const std::vector<std::size_t> order = worst_regions(s, harms);
  for (std::size_t k = 0; k < std::min(order.size(), most_regions_listed); ++k) {
    const Region& r = s.regions[order[k]];
    const std::string path = "regions." + std::to_string(order[k]) + ".";
    const std::string ranks = text::compact_ranks(r.ranks, 40);
    const auto seconds = [&](const char* name, double value) {
      return element("td", "", number(path + name, finite(value), text::format_seconds(value)));
    };
    html += "<tr>" + row_title("", std::to_string(r.id)) +
            element("td", ranks.size() > 15 ? "words" : "words short", escaped(ranks)) +
            element("td", "", number(path + "messages", r.messages, text::format_count(r.messages))) +
            element("td", "", number(path + "bytes", r.bytes, text::format_bytes(static_cast<double>(r.bytes)))) +
            element("td", "", number(path + "typical_ratio", finite(r.typical_ratio), text::format_ratio(r.level()))) +
            element("td", "", harm_text(harms.of_region(r))) + seconds("late_sender_s", r.late_sender_s) +
            seconds("late_receiver_s", r.late_receiver_s) + seconds("transfer_s", r.transfer_s) +
            seconds("collective_wait_s", r.collective_wait_s) +
            (periods ? element("td", "words", escaped(views::newest_period(r))) : "") + "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  std::string more;
  if (order.size() > most_regions_listed)
    more = "and " + text::format_count(order.size() - most_regions_listed) + " more regions";
  if (!s.ended_regions.empty())
    more += (more.empty() ? "" : "; ") + text::format_count(s.ended_regions.size()) + " regions of earlier patterns";
  return html + (more.empty() ? "" : element("p", "note", escaped(more)) + "\n");
}

// What stands out, or that nothing does.
std::string who_stands_out(const Snapshot& s, const session::Harms& harms) {
  if (!harms.lead() || s.regions.size() < 2) return {};
  std::vector<double> values;
  for (const Region& r : s.regions) values.push_back(harms.of_region(r));
  if (const auto worst = session::stands_out(values))
    return " Region " + std::to_string(s.regions[*worst].id) + " delays others most.";
  return session::all_alike(values) ? " All regions are alike." : " No single region stands out.";
}

void add_links(const layout::SpatialLayout& placed, const std::function<std::string(layout::Point)>& at,
               Picture& picture) {
  std::array<std::string, 3> paths;  // thin to thick, by messages
  double most = 1;
  const Snapshot& s = *placed.snapshot;
  for (const layout::PlacedLink& link : placed.links)
    most = std::max(most, static_cast<double>(s.links[link.index].messages));
  for (std::size_t i = 0; i < std::min(placed.links.size(), most_links); ++i) {
    const layout::PlacedLink& link = placed.links[i];
    const double share = static_cast<double>(s.links[link.index].messages) / most;
    std::string& d = paths[share > 0.5 ? 2 : share > 0.1 ? 1 : 0];
    const std::size_t step = std::max<std::size_t>(1, link.line.size() / 6);
    for (std::size_t k = 0; k < link.line.size(); k += step) d += (k == 0 ? "M" : "L") + at(link.line[k]);
    if (!link.line.empty()) d += "L" + at(link.line.back());
  }
  static constexpr const char* classes[] = {"link", "link w2", "link w3"};
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) picture.path(paths[i], classes[i]);
}

// Columns of ranks next to each other, when they are more than can be seen one by one.
struct RankColumns {
  std::size_t each = 1, count = 0;
};
RankColumns columns_of(std::size_t ranks) {
  RankColumns c;
  c.each = (ranks + most_columns - 1) / most_columns;
  c.count = c.each > 0 ? (ranks + c.each - 1) / c.each : 0;
  return c;
}

std::string name_of_ranks(std::size_t first, std::size_t last) {
  return first == last ? "rank " + std::to_string(first)
                       : "ranks " + std::to_string(first) + "-" + std::to_string(last);
}

}  // namespace

std::string regions_picture(const Snapshot& snapshot) {
  if (snapshot.regions.empty()) return {};
  const session::Harms harms(snapshot);
  const Values values = values_of(snapshot, harms);
  const layout::SpatialLayout placed = layout::spatial_layout(std::make_shared<const Snapshot>(snapshot));
  const layout::Rect box = layout::bounds(placed);
  if (placed.regions.empty() || !(box.width() > 0) || !(box.height() > 0)) return {};
  constexpr double margin = 14, most_height = 520, largest_dot = 13, smallest_dot = 1;  // units of the picture
  const double scale = std::min({(picture_width - 2 * margin) / static_cast<double>(box.width()),
                                 (most_height - 2 * margin) / static_cast<double>(box.height()), largest_dot});
  const double left = (picture_width - scale * static_cast<double>(box.width())) / 2;
  const auto x = [&](layout::Point p) { return left + scale * static_cast<double>(p.x - box.low.x); };
  const auto y = [&](layout::Point p) { return margin + scale * static_cast<double>(p.y - box.low.y); };
  const auto at = [&](layout::Point p) { return coordinate(x(p)) + " " + coordinate(y(p)); };
  const auto level_of_rank = [&](std::int32_t rank) {
    const auto index = static_cast<std::size_t>(std::max(rank, 0));
    return level_of(index < values.ranks.size() ? values.ranks[index] : 0, values.rank_top);
  };
  Picture picture(picture_width, 2 * margin + scale * static_cast<double>(box.height()),
                  "Regions, their ranks and the links between them");
  add_links(placed, at, picture);
  std::array<std::string, levels> dots;
  const bool dots_seen = scale >= smallest_dot;
  for (const layout::PlacedRegion& region : placed.regions) {
    const double value = values.regions[region.index];
    picture.circle(
        x(region.at), y(region.at), scale * static_cast<double>(region.radius),
        "disc h" + std::to_string(level_of(value, values.region_top)),
        "region " + std::to_string(region.id) + ": " +
            (values.harm ? "delay caused " + harm_text(value) : "ratio " + text::format_times(std::exp2(value))));
    for (const layout::PlacedRank& rank : region.ranks) {
      if (!dots_seen) break;
      dots[level_of_rank(rank.rank)] += "M" + at(region.at + rank.offset) + "h0";
    }
  }
  // A dot is a stroke of no length with round ends: as wide as one.
  const std::string width = coordinate(std::max(1.8 * scale, 0.8));
  std::string html = picture.html();
  for (std::size_t l = 0; l < levels; ++l)
    if (!dots[l].empty())
      html.insert(html.rfind("</svg>"), "<path d=\"" + dots[l] + "\" class=\"ranks h" + std::to_string(l) +
                                            "\" stroke-width=\"" + width + "\"/>\n");
  Picture labels(0, 0, "");
  for (const layout::PlacedRegion& region : placed.regions) {
    if (scale >= 6)
      for (const layout::PlacedRank& rank : region.ranks)
        labels.text(x(region.at + rank.offset), y(region.at + rank.offset) + 3, std::to_string(rank.rank),
                    level_of_rank(rank.rank) >= first_strong ? "dot dark" : "dot");
    else if (placed.regions.size() <= 200)
      labels.text(x(region.at), y(region.at) + 4, std::to_string(region.id), "mid tag");
  }
  const std::string all = labels.html();
  html.insert(html.rfind("</svg>"), all.substr(all.find('\n') + 1, all.rfind("</svg>") - all.find('\n') - 1));
  return figure(
      html, scale_key(values),
      (values.harm
           ? std::string("Regions (circles) and their ranks (dots), coloured by the delay that they caused: how "
                         "many ranks stood still because of them, over the whole run.")
           : std::string("Regions (circles) and their ranks (dots), coloured by their typical latency ratio: no "
                         "cause was found that delays others.")) +
          who_stands_out(snapshot, harms) + " Lines: messages between regions.");
}

std::string ranks_picture(const Snapshot& s) {
  if (s.ranks.empty() || !(s.duration_s > 0) || !std::isfinite(s.duration_s)) return {};
  static const std::vector<const char*> classes = {"late-sender", "late-receiver", "collective", "transfer",
                                                   "files",       "start",         "other",      "compute"};
  const RankColumns shape = columns_of(s.ranks.size());
  std::vector<Column> columns;
  std::vector<double> caused;
  for (std::size_t c = 0; c < shape.count; ++c) {
    const std::size_t first = c * shape.each, end = std::min(first + shape.each, s.ranks.size());
    Column column{static_cast<double>(first), static_cast<double>(end), std::vector<double>(classes.size(), 0)};
    double whole = 0, most = 0;
    for (std::size_t i = first; i < end; ++i) {
      const RankSummary& r = s.ranks[i];
      const double threads_s = std::max<std::uint32_t>(r.threads, 1) * s.duration_s;
      const double parts[] = {r.late_sender_s, r.late_receiver_s,        r.collective_wait_s,
                              r.transfer_s,    r.file_s + r.one_sided_s, r.init_s + r.finalize_s,
                              r.other_s,       threads_s - r.mpi_s};
      for (std::size_t p = 0; p < classes.size(); ++p)
        column.parts[p] += std::isfinite(parts[p]) ? std::max(parts[p], 0.0) : 0;
      whole += threads_s;
      most = std::max(most, std::isfinite(r.delay_caused_s) ? r.delay_caused_s / s.duration_s : 0);
    }
    for (double& part : column.parts) part /= whole;
    columns.push_back(std::move(column));
    caused.push_back(most);
  }
  Plot plot;
  plot.bottom = 160;
  plot.end = static_cast<double>(s.ranks.size());
  const double highest = *std::max_element(caused.begin(), caused.end());
  const bool delays = highest > 0;
  const double height = delays ? 285 : 200;
  Picture picture(picture_width, height, "Where each rank's time goes, and what delay it caused");
  stack(plot, columns, classes, picture);
  share_axis(plot, picture);
  Plot below = plot;
  if (delays) {
    below.top = 185, below.bottom = 255, below.high = std::max(highest, 0.25);
    for (const double value : {0.0, below.high}) {
      picture.line(below.left, below.y(value), below.right, below.y(value), "grid");
      picture.text(below.left - 6, below.y(value) + 3.5, harm_text(value), "small end");
    }
    picture.text(below.left, below.top - 7, "delay caused, in ranks", "small");
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!(caused[c] > 0)) continue;
      const double x = below.x(columns[c].begin), width = below.x(columns[c].end) - x;
      const auto first = static_cast<std::size_t>(columns[c].begin),
                 last = static_cast<std::size_t>(columns[c].end) - 1;
      picture.box(x + 0.1 * width, below.y(caused[c]), 0.8 * width, below.bottom - below.y(caused[c]), "caused",
                  name_of_ranks(first, last) + ": " + harm_text(caused[c]));
    }
  }
  picture.line(below.left, below.bottom, below.right, below.bottom, "axis");
  for (const double rank : round_steps(0, plot.end - 1, 12)) {
    if (rank != std::floor(rank)) continue;
    const double middle = below.x(std::min(rank + 0.5 * static_cast<double>(shape.each), plot.end));
    const std::string name = std::to_string(s.ranks[static_cast<std::size_t>(rank)].rank);
    picture.text(middle, below.bottom + 14, (rank == 0 ? "rank " : "") + name, "small mid");
  }
  const std::string each =
      shape.each > 1 ? " A column is " + std::to_string(shape.each) + " ranks: means above, the largest below." : "";
  return figure(
      picture.html(),
      key({{"compute", "outside MPI"},
           {"late-sender", "messages not sent yet"},
           {"late-receiver", "receivers not ready"},
           {"collective", "collectives"},
           {"transfer", "messages under way"},
           {"files", "files, one-sided"},
           {"start", "MPI_Init, MPI_Finalize"},
           {"other", "otherwise in MPI"}}),
      "Where each rank's time goes, as share of its time, and below what delay it caused: how many ranks stood "
      "still because of it." +
          each);
}

std::string regions_section(const Run& run) {
  if (run.snapshot.regions.empty()) return {};
  return regions_picture(run.snapshot) + regions_table(run.snapshot, session::Harms(run.snapshot));
}

std::string ranks_section(const Run& run, const views::Sites& sites) {
  const Snapshot& s = run.snapshot;
  std::string html = ranks_picture(s);
  if (s.delays.empty()) return html;
  html += element("p", "", "Where delays began, and what they cost all others:") + "\n<ol>\n";
  for (std::size_t i = 0; i < std::min(s.delays.size(), most_delays); ++i)
    html += element("li", "", escaped(views::delay_line(s.delays[i], sites))) + "\n";
  return html + "</ol>\n";
}

}  // namespace pclscope::report
